// Fake quantization by an integer grid over a span, in float32, for each instruction set.
#pragma once

#include <cstddef>

#include "formats/integer_scalar.hpp"
#include "formats/kernels/isa.hpp"

namespace mase::formats::kernels {

/// An integer grid as float32 numbers.
///
/// float32 is enough for the exact profile. x * scale is exact unless it overflows, which the clamp
/// mends, or underflows, which only `floor` sees (its kernel mends that). A code above the limit is
/// a float32 integer, hence at least RN32(high), so clamping to RN32(high) rounds once, as the
/// definition does. code * step is exact unless it exceeds float32.
struct IntegerGrid {
  float scale = 1;  ///< 2^frac_width
  float step = 1;   ///< 2^-frac_width
  float low = 0;    ///< smallest code
  float high = 0;   ///< largest code, rounded to float32
};

IntegerGrid integer_grid(const IntegerSpec& spec);

/// Quantizes `count` elements; `in` and `out` are the same or do not overlap.
using IntegerKernel = void (*)(const IntegerGrid& grid, const float* in, float* out,
                               std::size_t count);

/// The kernel of a deterministic rounding for an instruction set that is_available. All sets give
/// the same bits as quantize_integer_scalar. (`mase` knows nearest_even and floor only.)
IntegerKernel integer_kernel(Isa isa, Rounding rounding, Profile profile);

// One function per instruction set, called by integer_kernel only.
IntegerKernel integer_kernel_portable(Rounding rounding, Profile profile);
IntegerKernel integer_kernel_avx2(Rounding rounding, Profile profile);
IntegerKernel integer_kernel_avx512(Rounding rounding, Profile profile);

}  // namespace mase::formats::kernels
