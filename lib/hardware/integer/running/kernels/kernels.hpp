// SPDX-License-Identifier: Apache-2.0
// Kernels on narrow codes with sums in 32 bits, for each instruction set. Their callers have proven
// that every partial sum and its rounding fit; the results are those of exact_step.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd/kernels.hpp"

namespace mase::integer::kernels {

/// Requantise for 32-bit accumulators: round(acc * 2^left / (divisor * 2^shift)), clamped.
struct Requantise32 {
  int shift = 0, left = 0;
  std::int64_t divisor = 1;
  bool floor = false, away = false;  ///< neither: to the nearest, ties to even
  std::int32_t low = 0, high = 0;
};

/// acc[row][o] = bias[o] + sum over segments s and i < 2 * pairs of
/// in[row * row_stride + offsets[s] + i] * weight(o, s, i).
///
/// `weights` is packed for one instruction set: blocks of `lanes` outputs, in each of them
/// [segment][pair][lane][2], zeros where a segment or block is filled up. A row is read up to one
/// element past an odd segment.
struct MatrixJob {
  const std::int16_t* in = nullptr;
  std::ptrdiff_t row_stride = 0;
  std::size_t rows = 0;
  const std::ptrdiff_t* offsets = nullptr;
  std::size_t segments = 0, pairs = 0;
  const std::int16_t* weights = nullptr;
  const std::int32_t* bias = nullptr;    ///< one per output, filled up
  std::int32_t* accumulators = nullptr;  ///< [rows][outputs], outputs a multiple of `lanes`
  std::size_t outputs = 0;
};

struct KernelTable {
  std::size_t lanes;  ///< outputs of a weight block
  void (*matrix)(const MatrixJob& job);
  void (*requantise_to_16)(const Requantise32& requantise, const std::int32_t* in,
                           std::int16_t* out, std::size_t count);
  void (*requantise_to_32)(const Requantise32& requantise, const std::int32_t* in,
                           std::int32_t* out, std::size_t count);
  void (*widen)(const std::int16_t* in, std::int32_t* out, std::size_t count);
  /// out[i] = max(out[i], in[i])
  void (*maximum)(const std::int16_t* in, std::int32_t* out, std::size_t count);
  void (*add)(const std::int16_t* in, std::int32_t* out, std::size_t count);
  /// out[i] += a[i] * b[i]
  void (*multiply_add)(const std::int16_t* a, const std::int16_t* b, std::int32_t* out,
                       std::size_t count);
};

MASE_KERNELS(KernelTable, kernel_tables, avx512_vnni);
/// From the portable table to the best one of this machine.
std::vector<const KernelTable*> available_tables();

}  // namespace mase::integer::kernels
