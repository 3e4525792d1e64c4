// SPDX-License-Identifier: Apache-2.0
// Lowering of choices by a mask: masked_fill and where. What is chosen is multiplied by 1, what is
// not by 0, and both are added, which is exact. With a constant mask these factors are constants.
#include "hardware/integer/lowering/mask.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/comparison.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/masked.hpp"
#include "hardware/integer/lowering/matrix.hpp"
#include "hardware/integer/lowering/movement.hpp"
#include "hardware/integer/lowering/pad.hpp"

namespace mase::integer {
namespace {

/// Which argument is taken where the mask is `when`, a stream, and which elsewhere.
struct Choice {
  std::string_view mask, taken, other;
  bool when;
};

Constants inverted(Constants ones) {
  for (std::int64_t& code : ones.codes) code = 1 - code;
  return ones;
}

/// The stream where `kept` is 1, elsewhere a number, which infinite is the bound of the grid.
Operand filled_with(const Call& call, const StreamView& x, Constants kept, double otherwise) {
  if (call.frame_shape() != x.layout.torch_shape)
    throw Refusal{"its mask or its constant makes the stream larger; expand the stream before it"};
  const StreamView on_grid = on_result_grid(call, x);
  if (call.lowering.keeps_masks(call.node) && otherwise <= ir::mask_bound)
    return masked_where(call, on_grid, in_stream_order(call, on_grid, std::move(kept)));
  const Filled with = filled(call, on_grid, otherwise);
  kept = in_stream_order(call, with.x, std::move(kept));
  if (call.lowering.masked(x.id)) return masked_where(call, on_grid, std::move(kept), with.code);
  const int frac = call.lowering.value(with.x.id).type.frac;
  const auto [low, high] = std::minmax<std::int64_t>(0, with.code);
  Constants shift{kept.shape, type_for(low, high, frac), {}, {}, Interval{low, high}};
  for (const std::int64_t one : kept.codes) shift.codes.push_back(one == 1 ? 0 : with.code);
  return scale_and_shift(call, with.x, std::move(kept), std::move(shift));
}

/// A stream in the frame of the result.
StreamView side(const Call& call, std::string_view argument) {
  return repeated(call, on_result_grid(call, call.stream(argument)), call.frame_shape(), argument);
}

/// Constants that may be chosen, as codes of the grid of the result where it has one; masks as
/// their code where the result keeps them.
Constants constants_at(const Call& call, std::string_view argument,
                       const std::optional<Masked>& masks) {
  const auto grid = call.lowering.target(call.node);
  const auto code_at = [&](double value, Wide code) {
    return static_cast<std::int64_t>(masks && value <= ir::mask_bound ? masks->code : code);
  };
  if (call.has_tensor(argument)) {
    Constants constants =
        grid ? call.constants_on(argument, *grid) : call.constants(argument, true);
    const Array values = call.values(*call.parameter(argument));
    for (std::size_t i = 0; masks && i < constants.codes.size(); ++i)
      constants.codes[i] = code_at(values.span<float>()[i], constants.codes[i]);
    if (masks) constants.fit(constants.type.frac);
    return constants;
  }
  const double number = call.number(argument, 0);
  if (grid) {
    Constants constants{{}, grid->type, {code_at(number, code_of(number, *grid))}};
    constants.fit(grid->type.frac);
    return constants;
  }
  if (masks && number <= ir::mask_bound) {
    Constants constants{{}, {}, {static_cast<std::int64_t>(masks->code)}};
    constants.fit(0);
    return constants;
  }
  if (!std::isfinite(number))
    throw Refusal{"its value " + double_text(number) +
                  " is not a code; give it a finite number, or all its readers one data_in format "
                  "of fixed point, \"integer(8, 4)\", say (pass quantize), whose bounds infinite "
                  "ones then are"};
  return call.constant(number);
}

StreamView scaled(const Call& call, const StreamView& x, Constants scale,
                  std::optional<Constants> shift, const std::string& part) {
  auto [step, accumulator] = scale_step(call, x, std::move(scale), std::move(shift));
  return call.lowering.emit_before(call.node, part, std::move(step), {x.id}, accumulator,
                                   exactly(accumulator.range), call.lowering.layout_of(x));
}

/// x where the mask is 1, else 0.
StreamView kept_by(const Call& call, const StreamView& x, const StreamView& mask,
                   const std::string& part) {
  const auto [binary, accumulator] = binary_step(call, BinaryKind::multiply, x, mask);
  return call.lowering.emit_before(call.node, part, binary, {x.id, mask.id}, accumulator,
                                   exactly(accumulator.range), call.lowering.layout_of(x));
}

/// The masks that the result keeps: those of the streams that are chosen from, or new ones below
/// them.
std::optional<Masked> masks_of(const Call& call, const Choice& choice, const StreamView& x) {
  if (!call.lowering.keeps_masks(call.node)) return std::nullopt;
  std::vector<StreamView> streams{x};
  if (is_stream(call, choice.other)) streams.push_back(side(call, choice.other));
  std::optional<Interval> others;
  std::optional<Wide> code;
  bool alike = true;
  for (const StreamView& stream : streams) {
    const Masked* known = call.lowering.masked(stream.id);
    const Interval numbers =
        known ? known->others : interval_of(call.lowering.value(stream.id).type);
    others = others ? hull(*others, numbers) : numbers;
    if (!known) continue;
    alike = alike && code.value_or(known->code) == known->code;
    code = known->code;
  }
  const int frac = call.lowering.value(x.id).type.frac;
  const Wide wanted = with_masks(type_for(others->low, others->high, frac)).code;
  if (!alike || code.value_or(wanted) > wanted)
    throw Refusal{
        "its operands have masks of formats that differ; give both the same format "
        "(pass quantize)"};
  return Masked{code.value_or(wanted), *others};
}

/// What is taken plus what is left, with the masks of either.
Operand joined(const Call& call, const StreamView& taken, const StreamView& left,
               const std::optional<Masked>& masks) {
  if (!masks) return combined(call, BinaryKind::add, taken, left);
  const auto [binary, accumulator] = binary_step(call, BinaryKind::add, taken, left);
  return emit_masked(call, binary, {taken.id, left.id}, accumulator, *masks,
                     call.lowering.layout_of(taken));
}

/// The other argument as a stream in the order of `x`.
StreamView other_stream(const Call& call, const Choice& choice, const StreamView& x) {
  return call.lowering.reordered(side(call, choice.other), call.lowering.layout_of(x), call.node,
                                 std::string(choice.other));
}

Operand chosen_by_constant(const Call& call, const Choice& choice) {
  Constants kept = truths_of(call, choice.mask);
  if (!choice.when) kept = inverted(std::move(kept));
  if (const auto number = number_in(call, choice.other))
    return filled_with(call, call.stream(choice.taken), std::move(kept), *number);
  const StreamView x = side(call, choice.taken);
  const std::optional<Masked> masks = masks_of(call, choice, x);
  kept = in_stream_order(call, x, std::move(kept));
  if (is_stream(call, choice.other)) {
    const StreamView y = other_stream(call, choice, x);
    return joined(call, scaled(call, x, kept, std::nullopt, "taken"),
                  scaled(call, y, inverted(kept), std::nullopt, "left"), masks);
  }
  Constants other = in_stream_order(call, x, constants_at(call, choice.other, masks));
  const std::size_t count = std::max(kept.codes.size(), other.codes.size());
  Constants shift{{static_cast<std::int64_t>(count)}, other.type, {}, {}, other.any};
  if (shift.any) shift.any = hull(*shift.any, {});
  for (std::size_t i = 0; i < count; ++i)
    shift.codes.push_back(
        kept.codes[i % kept.codes.size()] == 1 ? 0 : other.codes[i % other.codes.size()]);
  if (!masks) return scale_and_shift(call, x, std::move(kept), std::move(shift));
  auto [step, accumulator] = scale_step(call, x, std::move(kept), std::move(shift));
  return emit_masked(call, std::move(step), {x.id}, accumulator, *masks,
                     call.lowering.layout_of(x));
}

/// A mask that is computed, in the frame of the result and an order of it.
StreamView mask_stream(const Call& call, const Choice& choice) {
  const StreamView mask = call.stream(choice.mask);
  if (!is_truth(call, mask))
    throw Refusal{
        "its mask is computed, but not by a comparison; such a mask has a datapath, a constant one "
        "too (pass fold_constants), and the sum with a mask of numbers"};
  return repeated(call, mask, call.frame_shape(), choice.mask);
}

/// What constants leave where the mask is not `when`, which is a multiple of the mask.
StreamView constants_by(const Call& call, const Choice& choice, const StreamView& mask,
                        const std::optional<Masked>& masks) {
  Constants other = in_stream_order(call, mask, constants_at(call, choice.other, masks));
  if (!choice.when) return scaled(call, mask, std::move(other), std::nullopt, "left");
  Constants scale = other;
  scale.negate();
  return scaled(call, mask, std::move(scale), std::move(other), "left");
}

Operand chosen_by_stream(const Call& call, const Choice& choice) {
  const StreamView x = side(call, choice.taken);
  const std::optional<Masked> masks = masks_of(call, choice, x);
  const StreamView mask = call.lowering.reordered(
      mask_stream(call, choice), call.lowering.layout_of(x), call.node, std::string(choice.mask));
  const auto rest = [&] {
    const FixedType bit{1, 0, false};
    return scaled(call, mask, {{}, {1, 0, true}, {-1}}, Constants{{}, bit, {1}}, "rest");
  };
  const StreamView taken = kept_by(call, x, choice.when ? mask : rest(), "taken");
  if (!is_stream(call, choice.other))
    return joined(call, taken, constants_by(call, choice, mask, masks), masks);
  const StreamView y = other_stream(call, choice, x);
  return joined(call, taken, kept_by(call, y, choice.when ? rest() : mask, "left"), masks);
}

/// The masks that a choice between constants keeps; beside 0 they need no grid.
std::optional<Masked> masks_beside(const Call& call, const Choice& choice) {
  if (!call.lowering.keeps_masks(call.node)) return std::nullopt;
  if (const auto grid = call.lowering.target(call.node)) return with_masks(grid->type);
  for (const std::string_view argument : {choice.taken, choice.other})
    if (number_in(call, argument) == 0.0) return with_masks(type_for(0, 0, 0));
  return std::nullopt;
}

/// Between constants: the mask times their difference, plus what is taken where it is 0.
Operand constants_chosen(const Call& call, const Choice& choice) {
  if (!is_stream(call, choice.mask))
    throw Refusal{"it chooses between constants; pass fold_constants computes it"};
  const StreamView mask = mask_stream(call, choice);
  const std::optional<Masked> masks = masks_beside(call, choice);
  Constants one = in_stream_order(call, mask, constants_at(call, choice.taken, masks));
  Constants other = in_stream_order(call, mask, constants_at(call, choice.other, masks));
  check_fixed(one);
  check_fixed(other);
  if (!choice.when) std::swap(one, other);
  const int frac = std::max(one.type.frac, other.type.frac);
  const std::size_t count = std::max(one.codes.size(), other.codes.size());
  Constants scale{{static_cast<std::int64_t>(count)}, {}, {}}, shift = scale;
  for (std::size_t i = 0; i < count; ++i) {
    const auto code = [&](const Constants& c) {
      return c.codes[i % c.codes.size()] << (frac - c.type.frac);
    };
    scale.codes.push_back(code(one) - code(other));
    shift.codes.push_back(code(other));
  }
  scale.fit(frac);
  shift.fit(frac);
  if (!masks) return scale_and_shift(call, mask, std::move(scale), std::move(shift));
  auto [step, accumulator] = scale_step(call, mask, std::move(scale), std::move(shift));
  return emit_masked(call, std::move(step), {mask.id}, accumulator, *masks,
                     call.lowering.layout_of(mask));
}

Operand choose(const Call& call, const Choice& choice) {
  return is_stream(call, choice.mask) ? chosen_by_stream(call, choice)
                                      : chosen_by_constant(call, choice);
}

Operand lower_masked_fill(const Call& call) {
  const Choice choice{"mask", "self", "value", false};
  return is_stream(call, "self") ? choose(call, choice) : constants_chosen(call, choice);
}

Operand lower_where(const Call& call) {
  if (is_stream(call, "self")) return choose(call, {"condition", "self", "other", true});
  if (is_stream(call, "other")) return choose(call, {"condition", "other", "self", false});
  return constants_chosen(call, {"condition", "self", "other", true});
}

}  // namespace

Constants truths_of(const Call& call, std::string_view argument) {
  const Parameter* parameter = call.parameter(argument);
  if (!parameter) throw Refusal{"its mask is a number; a tensor has a datapath"};
  const Array mask = call.values(*parameter);
  Constants ones{mask.shape(), {1, 0, false}, {}, {}, Interval{0, 1}};
  for (const float value : mask.span<float>()) ones.codes.push_back(value != 0);
  return ones;
}

std::optional<double> number_in(const Call& call, std::string_view argument) {
  const Parameter* parameter = call.parameter(argument);
  if (!parameter) {
    const ir::Value* value = call.node.find(argument);
    if (!value || value->is_node()) return std::nullopt;
    return call.number(argument, 0);
  }
  const Array values = call.values(*parameter);
  const std::span<const float> numbers = values.span<float>();
  if (std::ranges::adjacent_find(numbers, std::not_equal_to()) != numbers.end())
    return std::nullopt;
  return numbers.front();
}

std::vector<LoweringRow> mask_rows() {
  return {
      {"masked_fill", lower_masked_fill, true},
      {"where", lower_where, true},
  };
}

}  // namespace mase::integer
