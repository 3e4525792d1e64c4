// SPDX-License-Identifier: Apache-2.0
// From the codes of elements to values, for each instruction set: numbers looked up or integers,
// times a factor of each element.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// Codes and factors are read so far beyond the last one, and there too must be codes: lanes of the
/// widest set.
constexpr std::size_t value_padding = 16;

/// Tables of up to so many bits have a kernel of their own.
constexpr int widest_value_table = 8;

/// out[i] = element(codes[i]) * factors[i], rounded once. `stream`: stores past the caches; end
/// with stream_fence().
struct ValueSpan {
  const std::uint32_t* codes = nullptr;
  const float* factors = nullptr;  ///< null: all are 1
  float* out = nullptr;
  std::size_t count = 0;
  bool stream = false;
};

struct ValueKernels {
  using LookUp = void (*)(const float* table, const ValueSpan& span);
  /// By table[code]: [bits - 1] for tables of `bits` bits, the last one for wider ones.
  std::array<LookUp, widest_value_table + 1> look_up;
  /// Of integers that end at the bit `sign` (0: unsigned).
  void (*integers)(std::int32_t sign, const ValueSpan& span);
  /// to[i] = factors[(before + i) / tile] for every i below `count`, and up to `value_padding`
  /// further elements.
  void (*spread)(const float* factors, std::size_t before, std::size_t tile, float* to,
                 std::size_t count);
};
MASE_KERNELS(ValueKernels, value_kernels, avx512);

}  // namespace mase::formats::kernels
