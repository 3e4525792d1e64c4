// SPDX-License-Identifier: Apache-2.0
// The integer kernels.
#include "formats/fixed/integer_kernel.hpp"
#include "simd/code_loop.hpp"
#include "simd/span_loop.hpp"
#include "simd/wide_rounding.hpp"

namespace mase::formats::kernels {
namespace {

using namespace simd;

/// The grid's numbers in every lane, and the quantization of one vector.
template <Rounding rounding, Profile profile>
struct OnIntegerGrid {
  using Vec = Simd::Vec;
  Vec scale, step, low, high, zero, minus_one, half_below;

  MASE_SIMD static OnIntegerGrid of(const IntegerGrid& grid) {
    return {Simd::all(grid.scale),    Simd::all(grid.step), Simd::all(grid.low),
            Simd::all(grid.high),     Simd::all(0.0F),      Simd::all(-1.0F),
            Simd::all(0x1.fffffep-2F)};
  }

  MASE_SIMD Vec operator()(Vec x) const {
    const Vec value = Simd::mul(code(x), step);
    return profile == Profile::exact ? Simd::add(value, zero) : value;  // -0 + 0 = +0
  }

  MASE_SIMD Vec code(Vec x) const {
    return Simd::min(high, Simd::max(low, rounded(x, Simd::mul(x, scale))));
  }

  MASE_SIMD Vec rounded(Vec x, Vec scaled) const {
    if constexpr (rounding == Rounding::nearest_even) return Simd::nearest_even(scaled);
    // Added to the number just below 1/2, a fraction of 1/2 (a tie that rounds up) reaches 1, and
    // smaller fractions do not.
    if constexpr (rounding == Rounding::nearest_away)
      return Simd::trunc(Simd::add(scaled, Simd::copy_sign(half_below, scaled)));
    const Vec floored = Simd::floor(scaled);
    if constexpr (profile == Profile::reference) return floored;
    // A negative x floors to -1 or less, even when its product has underflowed to -0.
    return Simd::select_less(x, zero, Simd::min(minus_one, floored), floored);
  }
};

template <Rounding rounding, Profile profile>
MASE_SIMD_TARGET void run(const IntegerGrid& grid, const float* in, float* out, std::size_t count) {
  apply(OnIntegerGrid<rounding, profile>::of(grid), in, out, count);
}

template <Rounding rounding, Profile profile>
struct ToCode {
  OnIntegerGrid<rounding, profile> grid;
  MASE_SIMD Simd::Bits operator()(Simd::Vec x) const { return Simd::nearest_integer(grid.code(x)); }
};

template <Rounding rounding, Profile profile>
MASE_SIMD_TARGET bool run_encode(const IntegerGrid& grid, const float* in, std::uint32_t* codes,
                                 std::size_t count) {
  using Grid = OnIntegerGrid<rounding, profile>;
  return encode_span(ToCode<rounding, profile>{Grid::of(grid)}, in, codes, count);
}

struct FromCode {
  Simd::Bits sign;
  Simd::Vec step;
  MASE_SIMD Simd::Vec operator()(Simd::Bits code) const {
    return Simd::mul(Simd::from_integer(Simd::sub_bits(Simd::xor_bits(code, sign), sign)), step);
  }
};

MASE_SIMD_TARGET void run_decode(const IntegerGrid& grid, const std::uint32_t* codes, float* out,
                                 std::size_t count) {
  decode_span(FromCode{Simd::all_bits(grid.sign), Simd::all(grid.step)}, codes, out, count);
}

/// floor(x * scale + u) in double, as in the definition. Rounding a code above the limit to float32
/// before clamping gives the limit, as explained at IntegerGrid.
struct OnStochasticGrid {
  Simd::Wide scale;
  Simd::Vec step, low, high;

  MASE_SIMD static OnStochasticGrid of(const IntegerGrid& grid) {
    return {Simd::wide_all(grid.scale), Simd::all(grid.step), Simd::all(grid.low),
            Simd::all(grid.high)};
  }
  MASE_SIMD Simd::Vec code(Simd::Vec x, Simd::Vec u) const {
    const Simd::Wide scaled = Simd::mul_wide(Simd::widen(x), scale);
    const Simd::Wide rounded = floor_wide(Simd::add_wide(scaled, Simd::widen(u)));
    return Simd::min(high, Simd::max(low, Simd::narrow(rounded)));
  }
};

MASE_SIMD_TARGET void run_stochastic(const IntegerGrid& grid, const float* in, const float* offsets,
                                     float* out, std::size_t count) {
  const OnStochasticGrid on_grid = OnStochasticGrid::of(grid);
  for (std::size_t i = 0; i < count; i += Simd::width) {
    const Simd::Vec code = on_grid.code(Simd::load(in + i), Simd::load(offsets + i));
    Simd::store(out + i, Simd::add(Simd::mul(code, on_grid.step), Simd::all(0.0F)));
  }
}

MASE_SIMD_TARGET void run_stochastic_encode(const IntegerGrid& grid, const float* in,
                                            const float* offsets, std::uint32_t* codes,
                                            std::size_t count) {
  const OnStochasticGrid on_grid = OnStochasticGrid::of(grid);
  auto* out = reinterpret_cast<std::int32_t*>(codes);
  for (std::size_t i = 0; i < count; i += Simd::width) {
    const Simd::Vec code = on_grid.code(Simd::load(in + i), Simd::load(offsets + i));
    Simd::store_bits(out + i, Simd::nearest_integer(code));
  }
}

template <Rounding rounding, Profile profile = Profile::exact>
constexpr IntegerKernels all_kernels{run<rounding, profile>, run_encode<rounding, profile>};

}  // namespace

const IntegerKernelTable MASE_KERNELS_OF(integer_kernel_table){
    {all_kernels<Rounding::nearest_even>, all_kernels<Rounding::floor>,
     all_kernels<Rounding::nearest_away>},
    all_kernels<Rounding::nearest_even, Profile::reference>,
    all_kernels<Rounding::floor, Profile::reference>,
    run_decode,
    {run_stochastic, run_stochastic_encode}};

}  // namespace mase::formats::kernels
