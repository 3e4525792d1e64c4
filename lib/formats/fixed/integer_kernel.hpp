// SPDX-License-Identifier: Apache-2.0
// Fake quantization by an integer grid over a span, in float32, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/fixed/integer_scalar.hpp"
#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// An integer grid as float32 numbers.
///
/// float32 is enough for the exact profile. x * scale is exact unless it overflows, which the clamp
/// corrects, or underflows, which matters only to `floor` (its kernel corrects it). A code above
/// the limit is a float32 integer, hence at least RN32(high), so clamping to RN32(high) rounds
/// once, as the definition does. code * step is exact unless it exceeds float32.
struct IntegerGrid {
  float scale = 1;  ///< 2^frac_width
  float step = 1;   ///< 2^-frac_width
  float low = 0;    ///< smallest code
  float high = 0;   ///< largest code, rounded to float32
  /// The sign bit of a code (0 when unsigned): (code ^ sign) - sign extends it.
  std::int32_t sign = 0;
};

/// Grids up to this width have code kernels: their codes are far from the limits of float32 and of
/// all instruction sets' conversions to integers. Wider grids use the definition.
constexpr int widest_code_kernel = 22;

IntegerGrid integer_grid(const IntegerSpec& spec);

/// Quantizes `count` elements; `in` and `out` are the same or do not overlap.
using IntegerKernel = void (*)(const IntegerGrid& grid, const float* in, float* out,
                               std::size_t count);

/// The kernel of a deterministic rounding for an instruction set that is_available. All sets give
/// the same bits as quantize_integer_scalar. (`reference` has only nearest_even and floor.)
IntegerKernel integer_kernel(simd::Isa isa, Rounding rounding, Profile profile);

/// Codes as sign-extended integers; returns true when an element is NaN, whose code has no meaning.
using IntegerEncoder = bool (*)(const IntegerGrid& grid, const float* in, std::uint32_t* codes,
                                std::size_t count);
IntegerEncoder integer_encoder(simd::Isa isa, Rounding rounding, Profile profile);

/// Values of codes that have no bits above the grid's width.
using IntegerDecoder = void (*)(const IntegerGrid& grid, const std::uint32_t* codes, float* out,
                                std::size_t count);
IntegerDecoder integer_decoder(simd::Isa isa);

/// Stochastic rounding (exact profile) with the numbers of offset_kernel.hpp. `count` is a multiple
/// of 16; `in` and `out` are the same or do not overlap. Codes of NaN have no meaning.
struct StochasticKernels {
  void (*quantize)(const IntegerGrid& grid, const float* in, const float* offsets, float* out,
                   std::size_t count);
  void (*encode)(const IntegerGrid& grid, const float* in, const float* offsets,
                 std::uint32_t* codes, std::size_t count);
};
const StochasticKernels& stochastic_kernels(simd::Isa isa);

/// The kernels of an instruction set for one rounding and profile.
struct IntegerKernels {
  IntegerKernel quantize;
  IntegerEncoder encode;
};

/// All kernels of an instruction set, for the functions above.
struct IntegerKernelTable {
  ByRounding<IntegerKernels> exact;
  IntegerKernels reference_nearest_even, reference_floor;
  IntegerDecoder decode;
  StochasticKernels stochastic;
};
MASE_KERNELS(IntegerKernelTable, integer_kernel_table, avx512);

}  // namespace mase::formats::kernels
