// SPDX-License-Identifier: Apache-2.0
// Reads subscripts. For example, x[:, 0] is slice(dim 0) and select(dim 1) in TorchScript.
#include "torch/import/index.hpp"

#include <limits>

namespace mase::libtorch {
namespace {

bool equals(const Cell& cell, std::int64_t number) {
  return is_static(cell) && cell.value.isInt() && cell.value.toInt() == number;
}

/// A bound of a slice; None for a bound that Python leaves out.
ir::Value bound(const Ref& cell, std::int64_t left_out, Builder& builder) {
  if (equals(*cell, left_out)) return {};
  return builder.argument(cell);
}

/// The dimension that an item indexes, counted from the front. `more` is 1 for a new axis.
std::optional<std::int64_t> dimension(const std::vector<Ref>& inputs, std::int64_t more) {
  const Cell& dim = *inputs[1];
  if (!is_static(dim) || !dim.value.isInt() || !inputs[0]->value.isTensor()) return std::nullopt;
  const std::int64_t value = dim.value.toInt();
  return value < 0 ? value + inputs[0]->value.toTensor().dim() + more : value;
}

/// Skips the dimensions before a later first item with full slices.
bool skip_to(Subscript& subscript, const std::optional<std::int64_t>& dim) {
  if (!dim || *dim < subscript.next_dim) return false;
  if (!subscript.items.empty() && *dim != subscript.next_dim) return false;
  for (; subscript.next_dim < *dim; ++subscript.next_dim) {
    subscript.items.push_back(ir::Value::slice({}, {}, {}));
  }
  return true;
}

void add_slice(Subscript& subscript, const std::vector<Ref>& inputs, Builder& builder) {
  subscript.items.push_back(
      ir::Value::slice(bound(inputs[2], 0, builder),
                       bound(inputs[3], std::numeric_limits<std::int64_t>::max(), builder),
                       bound(inputs[4], 1, builder)));
  ++subscript.next_dim;
}

/// The step, with the arguments after the tensor by their names in the operator's schema.
ViewStep step_of(std::string_view kind, const std::vector<Ref>& inputs) {
  if (kind == "slice")
    return {"aten::slice.Tensor",
            {{"dim", inputs[1]}, {"start", inputs[2]}, {"end", inputs[3]}, {"step", inputs[4]}}};
  if (kind == "select") return {"aten::select.int", {{"dim", inputs[1]}, {"index", inputs[2]}}};
  return {"aten::unsqueeze", {{"dim", inputs[1]}}};
}

bool add_tensors(Subscript& subscript, const Ref& indices, Builder& builder) {
  if (indices->kind != Cell::Kind::list || !subscript.items.empty()) return false;
  for (const Ref& index : indices->items) {
    if (is_static(*index) && index->value.isNone()) {
      subscript.items.push_back(ir::Value::slice({}, {}, {}));
    } else {
      subscript.items.push_back(builder.argument(index));
    }
  }
  return true;
}

}  // namespace

std::optional<Subscript> extended(Subscript subscript, std::string_view kind,
                                  const std::vector<Ref>& inputs, Builder& builder) {
  bool good = false;
  if (kind == "slice" && skip_to(subscript, dimension(inputs, 0))) {
    add_slice(subscript, inputs, builder);
    good = true;
  } else if (kind == "index") {
    good = add_tensors(subscript, inputs[1], builder);
  } else if (kind == "select" && skip_to(subscript, dimension(inputs, 0))) {
    subscript.items.push_back(builder.argument(inputs[2]));
    good = true;
  } else if (kind == "unsqueeze" && !subscript.items.empty() &&
             skip_to(subscript, dimension(inputs, 1))) {
    subscript.items.emplace_back();
    ++subscript.next_dim;
    good = true;
  }
  if (!good) return std::nullopt;
  if (kind == "index")
    subscript.steps.clear();
  else
    subscript.steps.push_back(step_of(kind, inputs));
  return subscript;
}

ir::Value index_value(const Subscript& subscript) {
  if (subscript.items.size() == 1) return subscript.items.front();
  return ir::Value::tuple(subscript.items);
}

}  // namespace mase::libtorch
