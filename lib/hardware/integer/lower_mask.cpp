// SPDX-License-Identifier: Apache-2.0
// Lowering of choices by a constant mask: masked_fill and where. Elements are scaled by 1 or by 0,
// and shifted by 0 or by what stands for them.
#include <algorithm>
#include <functional>

#include "hardware/integer/lowering.hpp"

namespace mase::integer {
namespace {

/// Ones where a constant mask is true, or where it is false; the shape of the mask.
Constants ones_of(const Call& call, std::string_view argument, bool where_true) {
  const Parameter* parameter = call.parameter(argument);
  if (!parameter)
    throw Refusal{
        "its mask is computed; a constant one has a datapath (pass fold_constants), and so has the "
        "sum with a mask of numbers"};
  const Array mask = call.values(*parameter);
  Constants ones{mask.shape(), {1, 0, false}, {}, {}, Interval{0, 1}};
  for (const float value : mask.span<float>()) ones.codes.push_back((value != 0) == where_true);
  return ones;
}

/// The number that an argument is, as a number or a constant tensor that is the same everywhere;
/// none for a stream.
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
    throw Refusal{"it chooses among constants that differ; one number has a datapath"};
  return numbers.front();
}

/// The stream where `kept` is 1, elsewhere a number, which infinite is the bound of the grid.
Operand chosen(const Call& call, const StreamView& x, Constants kept, double otherwise) {
  if (call.frame_shape() != x.layout.torch_shape)
    throw Refusal{"its mask or its constant makes the stream larger; expand the stream before it"};
  const Filled with = filled(call, on_result_grid(call, x), otherwise);
  kept = in_stream_order(call, with.x, std::move(kept));
  const int frac = call.lowering.value(with.x.id).type.frac;
  const auto [low, high] = std::minmax<std::int64_t>(0, with.code);
  Constants shift{kept.shape, type_for(low, high, frac), {}, {}, Interval{low, high}};
  for (const std::int64_t one : kept.codes) shift.codes.push_back(one == 1 ? 0 : with.code);
  return scale_and_shift(call, with.x, std::move(kept), std::move(shift));
}

Operand lower_masked_fill(const Call& call) {
  const auto value = number_in(call, "value");
  if (!value) throw Refusal{"its value is computed; a constant number has a datapath"};
  return chosen(call, call.stream("self"), ones_of(call, "mask", false), *value);
}

Operand lower_where(const Call& call) {
  Constants kept = ones_of(call, "condition", true);
  if (const auto other = number_in(call, "other"))
    return chosen(call, call.stream("self"), std::move(kept), *other);
  const auto self = number_in(call, "self");
  if (!self) throw Refusal{"it chooses between two streams; a stream and a number have a datapath"};
  return chosen(call, call.stream("other"), ones_of(call, "condition", false), *self);
}

}  // namespace

std::vector<LoweringRow> mask_rows() {
  return {
      {"masked_fill", lower_masked_fill, true},
      {"where", lower_where, true},
  };
}

}  // namespace mase::integer
