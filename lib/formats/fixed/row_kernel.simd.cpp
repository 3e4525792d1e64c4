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

MASE_SIMD Simd::Wide nearest_away_wide(Simd::Wide v) {
  const Simd::Wide zero = Simd::wide_all(0);
  const Simd::Wide size = Simd::select_less_wide(v, zero, Simd::sub_wide(zero, v), v);
  const Simd::Wide rounded = floor_wide(Simd::add_wide(size, Simd::wide_all(0.5)));
  return Simd::select_less_wide(v, zero, Simd::sub_wide(zero, rounded), rounded);
}

template <Rounding rounding>
struct OnRowGrid {
  Simd::Wide step;
  Simd::Vec float_step, low, high;

  MASE_SIMD static OnRowGrid of(const RowGrid& grid) {
    return {Simd::wide_all(grid.step), Simd::all(grid.step), Simd::all(grid.low),
            Simd::all(grid.high)};
  }
  /// `u`: the offsets of stochastic rounding, nothing for the others.
  template <class... Offset>
  MASE_SIMD Simd::Vec code(Simd::Vec x, Offset... u) const {
    const Simd::Wide quotient = Simd::div_wide(Simd::widen(x), step);
    return Simd::min(high, Simd::max(low, Simd::narrow(rounded(quotient, u...))));
  }
  MASE_SIMD static Simd::Wide rounded(Simd::Wide v, Simd::Vec u) {
    return floor_wide(Simd::add_wide(v, Simd::widen(u)));
  }
  MASE_SIMD static Simd::Wide rounded(Simd::Wide v) {
    if constexpr (rounding == Rounding::nearest_even) return nearest_even_wide(v);
    if constexpr (rounding == Rounding::floor) return floor_wide(v);
    return nearest_away_wide(v);
  }
  template <class... Offset>
  MASE_SIMD Simd::Vec operator()(Simd::Vec x, Offset... u) const {
    return Simd::add(Simd::mul(code(x, u...), float_step), Simd::all(0.0F));  // -0 + 0 = +0
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

using Drawn = OnRowGrid<Rounding::stochastic>;

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

/// Magnitudes that are not finite count as 0. As integers they have the order of floats.
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

/// Every line is a line of scale_integer_scalar.cpp.
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
