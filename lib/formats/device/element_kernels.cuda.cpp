// SPDX-License-Identifier: Apache-2.0
// The table of CUDA's kernels: for each, the operation that processors apply, too.
#define MASE_ISA scalar
#include "formats/device/device_table.hpp"
#include "formats/device/element_body.hpp"
#include "formats/fixed/integer_op.hpp"
#include "formats/low_bit/three_way_op.hpp"
#include "formats/minifloat/drawn_bits_op.hpp"
#include "formats/minifloat/log_op.hpp"
#include "formats/minifloat/minifloat_op.hpp"

namespace mase::formats::kernels {
namespace {

/// The kernel of an operation that is made from a grid.
template <class Op, class Grid>
const char* on_device(const Grid& grid, Seed seed, const DeviceSpan& span) {
  return apply_on_device(Op::of(grid), seed, span);
}

const char* floored_minifloat(const MinifloatGrid& grid, Seed seed, const DeviceSpan& span) {
  if (OnFlooredMinifloatGrid::covers(grid)) return on_device<OnFlooredNumbers>(grid, seed, span);
  return on_device<OnMinifloatGrid<Rounding::floor>>(grid, seed, span);
}

const char* three_way(const ThreeWay& values, Seed seed, const DeviceSpan& span) {
  return values.keeps_nan ? on_device<ToValue<true>>(values, seed, span)
                          : on_device<ToValue<false>>(values, seed, span);
}

template <Rounding rounding, Profile profile = Profile::exact>
constexpr OnDevice<IntegerGrid> integer = on_device<OnIntegerGrid<rounding, profile>>;
template <Rounding rounding>
constexpr OnDevice<LogGrid> power_of_two = on_device<OnLogGrid<rounding>>;
template <Rounding rounding>
constexpr ByMinifloatRange<OnDevice<MinifloatGrid>> minifloat{
    on_device<OnMinifloatGrid<rounding>>, on_device<OnMinifloatGrid<rounding, false>>,
    on_device<OnWideMinifloatGrid<rounding>>};
template <>
constexpr ByMinifloatRange<OnDevice<MinifloatGrid>> minifloat<Rounding::floor>{
    floored_minifloat, on_device<OnMinifloatGrid<Rounding::floor, false>>,
    on_device<OnWideMinifloatGrid<Rounding::floor>>};
template <bool saturate>
constexpr OnDevice<MinifloatGrid> drawn =
    on_device<OnMinifloatGrid<Rounding::stochastic, saturate>>;

}  // namespace

extern "C" const DeviceKernels* mase_device_kernels() {
  static const DeviceKernels kernels{
      .integer = {integer<Rounding::nearest_even>, integer<Rounding::floor>,
                  integer<Rounding::nearest_away>, on_device<OnStochasticGrid, IntegerGrid>},
      .reference_integer = integer<Rounding::nearest_even, Profile::reference>,
      .reference_integer_floor = integer<Rounding::floor, Profile::reference>,
      .minifloat = {minifloat<Rounding::nearest_even>, minifloat<Rounding::floor>,
                    minifloat<Rounding::nearest_away>},
      .drawn_minifloat = {drawn<true>, drawn<false>, on_device<DrawnInBits<true>, MinifloatGrid>,
                          on_device<DrawnInBits<false>, MinifloatGrid>},
      // There are no ties, so nearest_away is nearest_even.
      .log = {power_of_two<Rounding::nearest_even>, power_of_two<Rounding::floor>,
              power_of_two<Rounding::nearest_even>, power_of_two<Rounding::stochastic>},
      .three_way = three_way,
      .drawn_sign = on_device<ToDrawnValue, ThreeWay>,
      .tiles = &tile_kernels_on_device};
  return &kernels;
}

}  // namespace mase::formats::kernels
