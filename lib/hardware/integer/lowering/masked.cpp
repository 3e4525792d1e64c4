// SPDX-License-Identifier: Apache-2.0
// Streams with masks. A mask is a code below all others, so far that softmax's exponential of the
// distance is 0: no step but softmax knows of it, and its hardware only has a wider input.
#include "hardware/integer/lowering/masked.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/function_step.hpp"
#include "hardware/integer/lowering/matrix.hpp"
#include "hardware/integer/lowering/movement.hpp"

namespace mase::integer {
namespace {

/// The least s with a << s >= b.
int shift_to(Wide a, Wide b) {
  int shift = 0;
  while (a << shift < b) ++shift;
  return shift;
}

Requantise to_result(const Call& call, const Accumulator& accumulator) {
  const auto grid = call.lowering.target(call.node);
  return grid ? to_grid(accumulator, *grid) : exactly(accumulator.range);
}

/// One operand of a sum: its elements other than masks (left out if all of them are 0), and a
/// stream that is 0 or, for masks, at most -`reach`, at the binary point of the sum.
class Summand {
 public:
  Summand(const Call& call, StreamView x, std::string port)
      : call_(call), x_(std::move(x)), port_(std::move(port)), masks_(call.lowering.masked(x_.id)) {
    if (masks_) own_ = *masks_;
  }

  bool has_masks() const { return masks_ != nullptr; }
  bool is_zero() const { return has_masks() && own_.others == Interval{0, 0}; }

  StreamView others() const {
    if (!has_masks()) return x_;
    return before("others", Cast{}, {interval_of(type()), type().frac}, exactly(own_.others));
  }

  StreamView masks(Wide reach, int frac) const {
    const Wide low = std::min<Wide>(own_.others.low, 0);
    const int shift = shift_to(low - own_.code, reach);
    const Requantise clamped = exactly({-reach, 0});
    if (low == 0) {
      Requantise scaled = clamped;
      scaled.shift = -shift;
      return before("masks", Cast{}, {interval_of(type()), frac - shift}, scaled);
    }
    const auto factor = static_cast<std::int64_t>(Wide{1} << shift);
    const auto offset = static_cast<std::int64_t>(-low << shift);
    auto [step, accumulator] =
        scale_step(call_, x_, {{1}, type_for(0, factor, 0), {factor}},
                   Constants{{1}, type_for(0, offset, type().frac), {offset}});
    accumulator.frac = frac;
    return before("masks", std::move(step), accumulator, clamped);
  }

 private:
  const FixedType& type() const { return call_.lowering.value(x_.id).type; }
  StreamView before(const std::string& what, Operation operation, const Accumulator& accumulator,
                    const Requantise& requantise) const {
    return call_.lowering.emit_before(call_.node, port_ + "_" + what, std::move(operation), {x_.id},
                                      accumulator, requantise, call_.lowering.layout_of(x_));
  }

  const Call& call_;
  StreamView x_;
  std::string port_;
  const Masked* masks_;
  Masked own_;
};

/// The sum or difference of the elements other than masks, on the grid of the result.
StreamView sum_of_others(const Call& call, BinaryKind kind, const Summand& a, const Summand& b) {
  const Shape shape = call.frame_shape();
  if (a.is_zero() && kind == BinaryKind::add)
    return on_result_grid(call, repeated(call, b.others(), shape, "other"));
  const StreamView x = repeated(call, a.others(), shape, "self");
  if (b.is_zero()) return on_result_grid(call, x);
  const StreamView y = call.lowering.reordered(repeated(call, b.others(), shape, "other"),
                                               call.lowering.layout_of(x), call.node, "other");
  const auto [step, accumulator] = binary_step(call, kind, x, y);
  return call.lowering.emit_before(call.node, "others", step, {x.id, y.id}, accumulator,
                                   to_result(call, accumulator), call.lowering.layout_of(x));
}

/// Where a step that adds masks stands among those of its node.
enum class Place { only, before, last };

/// A stream with the masks of a summand on top, at this place.
StreamView with_masks_of(const Call& call, const StreamView& x, const Summand& summand,
                         const Masked& masks, Place place) {
  const int frac = call.lowering.value(x.id).type.frac;
  const Layout layout = call.lowering.layout_of(x);
  const StreamView flags =
      call.lowering.reordered(repeated(call, summand.masks(masks.others.high - masks.code, frac),
                                       call.frame_shape(), "masks"),
                              layout, call.node, "masks");
  const auto [step, accumulator] = binary_step(call, BinaryKind::add, x, flags);
  const Requantise result = exactly({masks.code, masks.others.high});
  if (place == Place::before)
    return call.lowering.emit_before(call.node, "masked", step, {x.id, flags.id}, accumulator,
                                     result, layout);
  return call.lowering.emit(call.node, step, {x.id, flags.id}, accumulator, result, frac, layout,
                            place == Place::last ? "masked" : "");
}

}  // namespace

// 2^15 exp(-d) rounds to 0 where it is at most one half; straight pieces are less exact. On fine
// grids that is further than a function reaches: softmax knows masks there by their distance, which
// no two other codes have.
Masked with_masks(const FixedType& type) {
  const Interval codes = interval_of(type);
  const auto distance = [&](double octaves) {
    return std::max(
        codes.high - codes.low,
        static_cast<Wide>(std::ceil(std::ldexp(octaves * std::numbers::ln2, type.frac))));
  };
  const bool pieces = distance(16) >> most_table_bits != 0;
  const Wide natural = distance(pieces ? 24 : 16);
  const bool reached = natural >> most_function_bits == 0;
  return {codes.low - (reached ? natural : codes.high - codes.low + 1), codes};
}

const Masked* Lowering::masked(ValueId id) const {
  const auto found = masked_.find(id);
  return found == masked_.end() ? nullptr : &found->second;
}

StreamView emit_masked(const Call& call, Operation operation, std::vector<ValueId> inputs,
                       const Accumulator& accumulator, const Masked& masks, Layout layout) {
  const StreamView y = call.lowering.emit(call.node, std::move(operation), std::move(inputs),
                                          accumulator, exactly({masks.code, masks.others.high}),
                                          accumulator.frac, std::move(layout));
  call.lowering.set_masked(y.id, masks);
  return y;
}

StreamView masked_where(const Call& call, const StreamView& x, Constants kept,
                        std::optional<Wide> otherwise) {
  const FixedType type = call.lowering.value(x.id).type;
  const Masked* known = call.lowering.masked(x.id);
  Masked masks = known ? *known : with_masks(type);
  if (otherwise) masks.others = hull(masks.others, {*otherwise, *otherwise});
  const Wide code = otherwise.value_or(masks.code);
  const Interval shifts{std::min<Wide>(code, 0), std::max<Wide>(code, 0)};
  Constants shift{kept.shape, type_for(shifts.low, shifts.high, type.frac), {}, {}, shifts};
  for (const std::int64_t one : kept.codes)
    shift.codes.push_back(one == 1 ? 0 : static_cast<std::int64_t>(code));
  auto [step, accumulator] = scale_step(call, x, std::move(kept), std::move(shift));
  accumulator.frac = type.frac;
  return emit_masked(call, std::move(step), {x.id}, accumulator, masks, call.lowering.layout_of(x));
}

StreamView masked_sum(const Call& call, BinaryKind kind, const StreamView& a, const StreamView& b) {
  const Summand summands[] = {{call, a, "self"}, {call, b, "other"}};
  StreamView sum = sum_of_others(call, kind, summands[0], summands[1]);
  const Masked masks = with_masks(call.lowering.value(sum.id).type);
  bool first = summands[0].has_masks() && summands[1].has_masks();
  for (const Summand& summand : summands) {
    if (!summand.has_masks()) continue;
    sum = with_masks_of(call, sum, summand, masks, first ? Place::before : Place::only);
    first = false;
  }
  call.lowering.set_masked(sum.id, masks);
  return sum;
}

Operand around_masks(const Call& call, const StreamView& x,
                     const std::function<Operand(const StreamView&)>& lower) {
  const Summand masked{call, x, "data_in"};
  if (!masked.has_masks()) return lower(x);
  const StreamView others = std::get<StreamView>(lower(masked.others()));
  const Masked* own = call.lowering.masked(others.id);
  const Masked masks = own ? *own : with_masks(call.lowering.value(others.id).type);
  call.lowering.rename(others, call.node, "others");
  const StreamView result = with_masks_of(call, others, masked, masks, Place::last);
  call.lowering.set_masked(result.id, masks);
  return result;
}

StreamView masked_on(const Call& call, const StreamView& x, const Grid& grid,
                     const std::string& port) {
  const FixedType type = call.lowering.value(x.id).type;
  const Interval numbers = call.lowering.masked(x.id)->others;
  if (holds(grid.type, type_for(numbers.low, numbers.high, type.frac))) return x;
  const Accumulator accumulator{interval_of(type), type.frac};
  const StreamView others =
      call.lowering.emit_before(call.node, port + "_cast", Cast{}, {x.id}, accumulator,
                                to_grid(accumulator, grid), call.lowering.layout_of(x));
  const Masked masks = with_masks(call.lowering.value(others.id).type);
  StreamView result = with_masks_of(call, others, {call, x, port}, masks, Place::before);
  call.lowering.set_masked(result.id, masks);
  return result;
}

StreamView masked_product(const Call& call, const StreamView& x, double factor) {
  const FixedType type = call.lowering.value(x.id).type;
  if (std::ldexp(factor, -type.frac) > ir::mask_bound)
    throw Refusal{"its factor makes masks of some of its elements only; give it " +
                  std::string("-inf or the least float32")};
  // Readers with grids that differ each clamp what negative elements give.
  constexpr FixedType beyond_grids{32, 0, true};
  const auto grid = call.lowering.target(call.node);
  const FixedType to = grid ? grid->type : beyond_grids;
  Masked masks = with_masks(to);
  masks.others = {0, type.low() < 0 ? to.high() : 0};
  const auto scale =
      static_cast<std::int64_t>(-(Wide{1} << shift_to(1, std::max(-masks.code, to.high()))));
  auto [step, accumulator] =
      scale_step(call, x, {{1}, type_for(scale, 0, 0), {scale}}, std::nullopt);
  accumulator.frac = to.frac;
  return emit_masked(call, std::move(step), {x.id}, accumulator, masks, call.lowering.layout_of(x));
}

}  // namespace mase::integer
