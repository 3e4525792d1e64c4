// Reading subscripts: x[:, 0] is slice(dim 0) and select(dim 1) in TorchScript.
#include "torch_frontend/import_index.hpp"

#include <limits>

namespace mase::torch_frontend {
namespace {

bool is_number(const Cell& cell, std::int64_t number) {
  return is_static(cell) && cell.value.isInt() && cell.value.toInt() == number;
}

/// A bound of a slice; the bounds that Python leaves out are none.
ir::Value bound(const Ref& cell, std::int64_t left_out, Builder& builder) {
  if (is_number(*cell, left_out)) return {};
  return builder.argument(cell);
}

bool add_slice(Subscript& subscript, const std::vector<Ref>& inputs, Builder& builder) {
  if (!is_number(*inputs[1], subscript.next_dim)) return false;
  subscript.items.push_back(
      ir::Value::slice(bound(inputs[2], 0, builder),
                       bound(inputs[3], std::numeric_limits<std::int64_t>::max(), builder),
                       bound(inputs[4], 1, builder)));
  ++subscript.next_dim;
  return true;
}

/// A selection or new axis at a later dimension skips those before with full slices.
bool skip_to(Subscript& subscript, const Ref& dim) {
  if (!is_static(*dim) || !dim->value.isInt()) return false;
  const bool first = subscript.items.empty();
  if (dim->value.toInt() < subscript.next_dim) return false;
  if (!first && dim->value.toInt() != subscript.next_dim) return false;
  for (; subscript.next_dim < dim->value.toInt(); ++subscript.next_dim) {
    subscript.items.push_back(ir::Value::slice({}, {}, {}));
  }
  return true;
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
  if (kind == "slice") {
    good = add_slice(subscript, inputs, builder);
  } else if (kind == "index") {
    good = add_tensors(subscript, inputs[1], builder);
  } else if (kind == "select" && skip_to(subscript, inputs[1])) {
    subscript.items.push_back(builder.argument(inputs[2]));
    good = true;
  } else if (kind == "unsqueeze" && !subscript.items.empty() && skip_to(subscript, inputs[1])) {
    subscript.items.emplace_back();
    ++subscript.next_dim;
    good = true;
  }
  if (!good) return std::nullopt;
  return subscript;
}

ir::Value index_value(const Subscript& subscript) {
  if (subscript.items.size() == 1) return subscript.items.front();
  return ir::Value::tuple(subscript.items);
}

}  // namespace mase::torch_frontend
