// SPDX-License-Identifier: Apache-2.0
// Implements Python indexing of containers and tensors.
#include <ATen/TensorIndexing.h>
#include <ATen/core/ivalue.h>

#include "base/error.hpp"
#include "base/from_front.hpp"
#include "torch/run/arguments.hpp"
#include "torch/run/compat.hpp"

namespace mase::libtorch {
namespace {

using Kind = ir::Value::Kind;
using Bound = compat::optional<std::int64_t>;

c10::IValue resolve(const ir::Value& value, const NodeValue& value_of) {
  return value.is_node() ? value_of(value.node()) : to_ivalue(value);
}

Bound bound(const ir::Value& value, const NodeValue& value_of) {
  if (value.is_none()) return {};
  return resolve(value, value_of).toInt();
}

at::indexing::TensorIndex slice_index(const ir::Value& index, const NodeValue& value_of) {
  const auto& parts = index.items();
  return at::indexing::Slice(bound(parts[0], value_of), bound(parts[1], value_of),
                             bound(parts[2], value_of));
}

at::indexing::TensorIndex tensor_index(const ir::Value& index, const NodeValue& value_of) {
  if (index.kind() == Kind::slice) return slice_index(index, value_of);
  const c10::IValue value = resolve(index, value_of);
  if (value.isNone()) return at::indexing::None;
  if (value.isInt()) return value.toInt();
  if (value.isBool()) return value.toBool();
  if (value.isTensor()) return value.toTensor();
  file_error("a tensor is indexed by " + value.tagKind());
}

at::Tensor tensor_item(const at::Tensor& self, const ir::Value& index, const NodeValue& value_of) {
  std::vector<at::indexing::TensorIndex> indices;
  if (index.kind() == Kind::tuple) {
    for (const ir::Value& item : index.items()) indices.push_back(tensor_index(item, value_of));
  } else {
    indices.push_back(tensor_index(index, value_of));
  }
  return self.index(indices);
}

std::int64_t clamp_bound(const Bound& given, std::int64_t fallback, std::int64_t size) {
  std::int64_t position = given ? *given : fallback;
  if (position < 0) position += size;
  return std::clamp<std::int64_t>(position, 0, size);
}

template <class Items>
std::vector<c10::IValue> slice_items(const Items& items, const ir::Value& index,
                                     const NodeValue& value_of) {
  const auto size = static_cast<std::int64_t>(items.size());
  const Bound step = bound(index.items()[2], value_of);
  if (step && *step <= 0) unsupported_error("slices of lists need a positive step");
  const std::int64_t last = clamp_bound(bound(index.items()[1], value_of), size, size);
  std::vector<c10::IValue> out;
  for (std::int64_t i = clamp_bound(bound(index.items()[0], value_of), 0, size); i < last;
       i += step ? *step : 1) {
    out.push_back(items[static_cast<std::size_t>(i)]);
  }
  return out;
}

template <class Items>
c10::IValue item_at(const Items& items, std::int64_t position) {
  const auto place = from_front(position, items.size());
  if (!place) file_error("index out of range: " + std::to_string(items.size()) + " elements");
  return items[*place];
}

c10::IValue dict_item(const c10::IValue& self, const c10::IValue& key) {
  const auto dict = self.toGenericDict();
  const auto found = dict.find(key);
  if (found == dict.end()) file_error("key not found in a dict");
  return found->value();
}

}  // namespace

c10::IValue get_item(const c10::IValue& self, const ir::Value& index, const NodeValue& value_of) {
  if (self.isTensor()) return tensor_item(self.toTensor(), index, value_of);
  if (self.isGenericDict()) return dict_item(self, resolve(index, value_of));
  if (!self.isTuple() && !self.isList()) file_error(self.tagKind() + " cannot be indexed");
  if (index.kind() == Kind::slice) {
    if (self.isList())
      return make_list(slice_items(self.toListRef(), index, value_of), self.type());
    return c10::ivalue::Tuple::create(slice_items(self.toTupleRef().elements(), index, value_of));
  }
  const std::int64_t position = resolve(index, value_of).toInt();
  if (self.isList()) return item_at(self.toListRef(), position);
  return item_at(self.toTupleRef().elements(), position);
}

}  // namespace mase::libtorch
