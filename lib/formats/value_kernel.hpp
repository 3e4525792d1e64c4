// SPDX-License-Identifier: Apache-2.0
// Turns codes of elements into values, for each instruction set: looked-up numbers or integers,
// times a factor of each element.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// Codes and factors are read this far beyond the last one, where there must be codes too: as many
/// as the widest instruction set has lanes.
constexpr std::size_t value_padding = 16;

/// Tables of up to so many bits have a separate kernel for each number of bits.
constexpr int widest_value_table = 8;

/// out[i] = element(codes[i]) * factors[i], rounded once. With `stream`, stores bypass the caches;
/// the caller ends with stream_fence().
struct ValueSpan {
  const std::uint32_t* codes = nullptr;
  const float* factors = nullptr;  ///< null when all factors are 1
  float* out = nullptr;
  std::size_t count = 0;
  bool stream = false;
};

struct ValueKernels {
  using LookUp = void (*)(const float* table, const ValueSpan& span);
  /// Looks up table[code]: entry [bits - 1] for tables of `bits` bits, the last for wider tables.
  std::array<LookUp, widest_value_table + 1> look_up;
  /// For integers whose highest bit is `sign` (0: unsigned).
  void (*integers)(std::int32_t sign, const ValueSpan& span);
  /// to[i] = factors[(before + i) / tile] for every i below `count`, and up to `value_padding`
  /// further elements.
  void (*spread)(const float* factors, std::size_t before, std::size_t tile, float* to,
                 std::size_t count);
};
MASE_KERNELS(ValueKernels, value_kernels, avx512);

}  // namespace mase::formats::kernels
