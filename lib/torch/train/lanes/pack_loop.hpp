// SPDX-License-Identifier: Apache-2.0
// Moves 16 images between rows and lanes. Included by kernels.simd.cpp.
#pragma once

#include "simd/lanes.hpp"
#include "torch/train/lanes/kernels.hpp"

namespace mase::train {
namespace {

using simd::lanes;

typedef float Quad __attribute__((vector_size(16), aligned(4), may_alias));

/// Transposes four rows to four columns.
MASE_SIMD void transpose(const Quad (&rows)[4], Quad (&columns)[4]) {
  typedef std::int32_t Order __attribute__((vector_size(16)));
  const Order low{0, 4, 1, 5}, high{2, 6, 3, 7};
  const Quad even_low = __builtin_shuffle(rows[0], rows[2], low);
  const Quad even_high = __builtin_shuffle(rows[0], rows[2], high);
  const Quad odd_low = __builtin_shuffle(rows[1], rows[3], low);
  const Quad odd_high = __builtin_shuffle(rows[1], rows[3], high);
  columns[0] = __builtin_shuffle(even_low, odd_low, low);
  columns[1] = __builtin_shuffle(even_low, odd_low, high);
  columns[2] = __builtin_shuffle(even_high, odd_high, low);
  columns[3] = __builtin_shuffle(even_high, odd_high, high);
}

MASE_SIMD Quad& quad(float* at) { return *reinterpret_cast<Quad*>(at); }
MASE_SIMD Quad quad(const float* at) { return *reinterpret_cast<const Quad*>(at); }

MASE_SIMD_TARGET void pack(const float* const* rows, std::size_t count, float* out) {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (std::size_t lane = 0; lane < lanes; lane += 4) {
      const Quad from[4] = {quad(rows[lane] + i), quad(rows[lane + 1] + i),
                            quad(rows[lane + 2] + i), quad(rows[lane + 3] + i)};
      Quad to[4];
      transpose(from, to);
      for (std::size_t k = 0; k < 4; ++k) quad(out + (i + k) * lanes + lane) = to[k];
    }
  for (; i < count; ++i)
    for (std::size_t lane = 0; lane < lanes; ++lane) out[i * lanes + lane] = rows[lane][i];
}

MASE_SIMD_TARGET void unpack(const float* in, std::size_t count, float* const* rows) {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (std::size_t lane = 0; lane < lanes; lane += 4) {
      Quad from[4], to[4];
      for (std::size_t k = 0; k < 4; ++k) from[k] = quad(in + (i + k) * lanes + lane);
      transpose(from, to);
      for (std::size_t k = 0; k < 4; ++k) quad(rows[lane + k] + i) = to[k];
    }
  for (; i < count; ++i)
    for (std::size_t lane = 0; lane < lanes; ++lane) rows[lane][i] = in[i * lanes + lane];
}

}  // namespace
}  // namespace mase::train
