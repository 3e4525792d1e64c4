// SPDX-License-Identifier: Apache-2.0
// The kernels of integers with a scale per row.
#include <bit>

#include "formats/fixed/row_kernel.hpp"
#include "simd/code_loop.hpp"
#include "simd/span_loop.hpp"
#include "simd/specials.hpp"
#include "simd/wide_rounding.hpp"

namespace mase::formats::kernels {
namespace {

using namespace simd;

/// Codes without a division. n, a product rounded to an integer, is next to the quotient x / step,
/// and the rest x - n * step is a float32 number: it is a multiple of the last bits of x and step,
/// and at most the step. So comparing it with half a step, or with 0, shows where the quotient
/// lies. `lift` makes tiny steps normal numbers, exactly.
template <Rounding rounding>
struct OnRowGrid {
  using Vec = Simd::Vec;
  using Bits = Simd::Bits;
  Vec lift, step, half, inverse, float_step, low, high;

  MASE_SIMD static OnRowGrid of(const RowGrid& grid) {
    const float lift = grid.step < 0x1p-100F ? 0x1p40F : 1.0F, step = grid.step * lift;
    return {Simd::all(lift),        Simd::all(step),      Simd::all(0.5F * step),
            Simd::all(1.0F / step), Simd::all(grid.step), Simd::all(grid.low),
            Simd::all(grid.high)};
  }
  MASE_SIMD Vec code(Vec x) const {
    const Vec lifted = Simd::mul(x, lift), magic = Simd::all(0x1.8p23F);
    const Vec sum = Simd::add(Simd::mul(lifted, inverse), magic);  // leaves no fraction bits
    const Vec n = Simd::sub(sum, magic);
    const Vec rest = Simd::minus_product(lifted, n, step);
    return Simd::min(high, Simd::max(low, corrected(lifted, sum, n, rest)));
  }
  MASE_SIMD Vec operator()(Vec x) const {
    return Simd::add(Simd::mul(code(x), float_step), Simd::all(0.0F));  // -0 + 0 = +0
  }

 private:
  /// n, or one more or less. A rest of NaN, as for infinities, changes nothing.
  MASE_SIMD Vec corrected(Vec x, Vec sum, Vec n, Vec rest) const {
    const Vec zero = Simd::all(0.0F), one = Simd::all(1.0F);
    if constexpr (rounding == Rounding::floor) {
      const Vec less = Simd::sub(n, Simd::select_less(rest, zero, one, zero));
      return Simd::add(less, Simd::select_less(rest, step, zero, one));
    }
    const Vec limit = Simd::floats(Simd::sub_bits(Simd::bits(half), moves(x, sum, rest)));
    const Vec further = Simd::copy_sign(one, rest);
    return Simd::add(n,
                     Simd::select_less(limit, Simd::floats(magnitude_bits(rest)), further, zero));
  }
  /// 1 where a rest of half a step moves n towards the quotient: from odd n, or away from 0.
  MASE_SIMD static Bits moves(Vec x, Vec sum, Vec rest) {
    if constexpr (rounding == Rounding::nearest_even)
      return Simd::and_bits(Simd::bits(sum), Simd::all_bits(1));
    const Bits differ = Simd::shift_right<31>(Simd::xor_bits(Simd::bits(x), Simd::bits(rest)));
    return Simd::xor_bits(differ, Simd::all_bits(1));
  }
};

template <Rounding rounding>
MASE_SIMD_TARGET void run_row(const RowGrid& grid, const float* in, float* out, std::size_t count,
                              bool stream) {
  apply(OnRowGrid<rounding>::of(grid), in, out, count, stream);
}

template <Rounding rounding>
struct ToRowCode {
  OnRowGrid<rounding> grid;
  MASE_SIMD Simd::Bits operator()(Simd::Vec x) const { return Simd::nearest_integer(grid.code(x)); }
};

template <Rounding rounding>
MASE_SIMD_TARGET bool run_row_encode(const RowGrid& grid, const float* in, std::uint32_t* codes,
                                     std::size_t count) {
  return encode_span(ToRowCode<rounding>{OnRowGrid<rounding>::of(grid)}, in, codes, count);
}

/// Stochastic rounding: the floor of a quotient in double plus a random number.
struct Drawn {
  Simd::Wide step;
  Simd::Vec float_step, low, high;

  MASE_SIMD static Drawn of(const RowGrid& grid) {
    return {Simd::wide_all(grid.step), Simd::all(grid.step), Simd::all(grid.low),
            Simd::all(grid.high)};
  }
  MASE_SIMD Simd::Vec code(Simd::Vec x, Simd::Vec u) const {
    const Simd::Wide quotient = Simd::div_wide(Simd::widen(x), step);
    const Simd::Wide drawn = floor_wide(Simd::add_wide(quotient, Simd::widen(u)));
    return Simd::min(high, Simd::max(low, Simd::narrow(drawn)));
  }
  MASE_SIMD Simd::Vec operator()(Simd::Vec x, Simd::Vec u) const {
    return Simd::add(Simd::mul(code(x, u), float_step), Simd::all(0.0F));
  }
};

MASE_SIMD_TARGET void run_drawn(const RowGrid& grid, const float* in, const float* offsets,
                                float* out, std::size_t count) {
  const Drawn op = Drawn::of(grid);
  for (std::size_t i = 0; i < count; i += Simd::width)
    Simd::store(out + i, op(Simd::load(in + i), Simd::load(offsets + i)));
}

MASE_SIMD_TARGET void run_drawn_encode(const RowGrid& grid, const float* in, const float* offsets,
                                       std::uint32_t* codes, std::size_t count) {
  const Drawn op = Drawn::of(grid);
  auto* to = reinterpret_cast<std::int32_t*>(codes);
  for (std::size_t i = 0; i < count; i += Simd::width)
    Simd::store_bits(to + i,
                     Simd::nearest_integer(op.code(Simd::load(in + i), Simd::load(offsets + i))));
}

/// The magnitude, or 0 when it is not finite. As integers, magnitudes have the order of floats.
MASE_SIMD Simd::Bits finite_magnitude(Simd::Vec x) {
  const Simd::Bits size = Simd::and_bits(Simd::bits(x), Simd::all_bits(0x7fffffff));
  return Simd::select_less_bits(size, Simd::all_bits(0x7f800000), size, Simd::all_bits(0));
}

MASE_SIMD_TARGET float run_peak(const float* in, std::size_t count) {
  Simd::Bits largest = Simd::all_bits(0);
  std::size_t i = 0;
  for (; i + Simd::width <= count; i += Simd::width)
    largest = Simd::max_bits(largest, finite_magnitude(Simd::load(in + i)));
  if (i < count) largest = Simd::max_bits(largest, finite_magnitude(load_part(in + i, count - i)));
  return std::bit_cast<float>(Simd::largest(largest));
}

/// Every line corresponds to a line of scale_integer_scalar.cpp.
struct OnReferenceRow {
  Simd::Vec scale, low, high;

  MASE_SIMD Simd::Vec operator()(Simd::Vec x) const {
    const Simd::Vec code = Simd::nearest_even(Simd::mul(x, scale));
    return Simd::div(Simd::min(high, Simd::max(low, code)), scale);
  }
};

MASE_SIMD_TARGET void run_reference(const RowGrid& grid, const float* in, float* out,
                                    std::size_t count, bool stream) {
  apply(OnReferenceRow{Simd::all(grid.step), Simd::all(grid.low), Simd::all(grid.high)}, in, out,
        count, stream);
}

MASE_SIMD_TARGET float run_reference_peak(const float* in, std::size_t count) {
  Simd::Bits largest = Simd::all_bits(0);
  std::size_t i = 0;
  for (; i + Simd::width <= count; i += Simd::width)
    largest = Simd::max_bits(largest, magnitude_bits(Simd::load(in + i)));
  if (i < count) largest = Simd::max_bits(largest, magnitude_bits(load_part(in + i, count - i)));
  return std::bit_cast<float>(Simd::largest(largest));
}

template <Rounding rounding>
constexpr RowKernels all_row_kernels{run_row<rounding>, run_row_encode<rounding>, run_peak};

}  // namespace

const ReferenceRowKernel MASE_KERNELS_OF(reference_row_kernel){run_reference, run_reference_peak};

const DrawnRowKernel MASE_KERNELS_OF(drawn_row_kernel){run_drawn, run_drawn_encode};

const ByRounding<RowKernels> MASE_KERNELS_OF(row_kernels){all_row_kernels<Rounding::nearest_even>,
                                                          all_row_kernels<Rounding::floor>,
                                                          all_row_kernels<Rounding::nearest_away>};

}  // namespace mase::formats::kernels
