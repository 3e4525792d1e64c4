// SPDX-License-Identifier: Apache-2.0
// MethodBuilder writes literals, containers and Python indexing of the graph in TorchScript.
#include <ATen/core/ivalue.h>

#include "base/error.hpp"
#include "base/from_front.hpp"
#include "torch/export/method.hpp"

namespace mase::libtorch {

namespace jit = torch::jit;

namespace {

using Kind = ir::Value::Kind;

c10::TypePtr without_optional(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : type;
}

/// A scalar literal. If wanted, an integer becomes a float and a string a device.
c10::IValue scalar(const ir::Value& value, c10::TypeKind wanted) {
  switch (value.kind()) {
    case Kind::none:
      return {};
    case Kind::boolean:
      return value.as_bool();
    case Kind::integer:
      if (wanted == c10::TypeKind::FloatType) return value.as_double();
      return value.as_int();
    case Kind::number:
      return value.as_double();
    case Kind::string:
      if (wanted == c10::TypeKind::DeviceObjType) return c10::Device(value.as_string());
      return value.as_string();
    default:
      unsupported_error("a slice can stand in an index only");
  }
}

c10::TypePtr type_of_first(const std::vector<jit::Value*>& items) {
  return items.empty() ? c10::TypePtr(c10::TensorType::get()) : items.front()->type();
}

}  // namespace

jit::Value* MethodBuilder::lower_items(const ir::Value& value, const c10::TypePtr& wanted,
                                       const NodeLookup& lookup) {
  const auto list_type = wanted->cast<c10::ListType>();
  c10::TypePtr element = list_type ? list_type->getElementType() : c10::AnyType::get();
  std::vector<jit::Value*> items;
  for (const ir::Value& item : value.items()) items.push_back(lower(item, element, lookup));
  if (value.kind() == Kind::tuple && !list_type)
    return graph_->insertNode(graph_->createTuple(items))->output();
  const bool open = element->kind() == c10::TypeKind::AnyType || element->hasFreeVariables();
  return list(open ? type_of_first(items) : element, items);
}

jit::Value* MethodBuilder::lower_dict(const ir::Value& value, const NodeLookup& lookup) {
  std::vector<jit::Value*> keys, items;
  for (const auto& [key, item] : value.entries()) {
    keys.push_back(constant(key));
    items.push_back(lower_free(item, lookup));
  }
  const c10::TypePtr element = type_of_first(items);
  for (const jit::Value* item : items)
    if (!item->type()->isSubtypeOf(*element))
      unsupported_error("a dict with values of several types has no form in TorchScript");
  return graph_->insertNode(graph_->createDict(c10::StringType::get(), element, keys, items))
      ->output();
}

jit::Value* MethodBuilder::lower(const ir::Value& value, const c10::TypePtr& wanted,
                                 const NodeLookup& lookup) {
  const c10::TypePtr plain = without_optional(wanted);
  switch (value.kind()) {
    case Kind::node:
      return lookup(value.node());
    case Kind::training:
      return attribute("training");
    case Kind::list:
    case Kind::tuple:
      return lower_items(value, plain, lookup);
    case Kind::dict:
      return lower_dict(value, lookup);
    default:
      return constant(scalar(value, plain->kind()));
  }
}

jit::Value* MethodBuilder::lower_free(const ir::Value& value, const NodeLookup& lookup) {
  return lower(value, c10::AnyType::get(), lookup);
}

jit::Value* MethodBuilder::index_tensor(jit::Value* base, const std::vector<ir::Value>& items,
                                        const NodeLookup& lookup) {
  // As in Python, integers, slices and None are applied at once, and tensors together at the end.
  std::int64_t dim = 0;
  bool has_tensors = false;
  const c10::TypePtr optional_tensor = c10::OptionalType::ofTensor();
  std::vector<jit::Value*> tensors;
  for (const ir::Value& item : items) {
    jit::Value* value = item.kind() == Kind::slice ? nullptr : lower_free(item, lookup);
    if (value != nullptr && value->type()->kind() == c10::TypeKind::IntType) {
      base = call_positional("aten::select.int", {base, constant(dim), value});
      continue;
    }
    if (value == nullptr) {
      std::vector<jit::Value*> arguments{base, constant(dim)};
      for (const ir::Value& part : item.items()) arguments.push_back(lower_free(part, lookup));
      if (item.items()[2].is_none()) arguments.back() = constant(std::int64_t{1});
      base = call_positional("aten::slice.Tensor", arguments);
    } else if (item.is_none()) {
      base = call_positional("aten::unsqueeze", {base, constant(dim)});
    } else if (value->type()->isSubtypeOf(*c10::TensorType::get())) {
      has_tensors = true;
      tensors.resize(static_cast<std::size_t>(dim), nullptr);
      tensors.push_back(value);
    } else {
      unsupported_error("a tensor indexed by " + value->type()->str());
    }
    ++dim;
  }
  if (!has_tensors) return base;
  for (jit::Value*& tensor : tensors)
    if (tensor == nullptr) tensor = constant({});
  return call_positional("aten::index.Tensor", {base, list(optional_tensor, tensors)});
}

jit::Value* MethodBuilder::get_item(jit::Value* base, const ir::Value& index,
                                    const NodeLookup& lookup) {
  const c10::TypeKind kind = base->type()->kind();
  if (kind == c10::TypeKind::TensorType) {
    const bool many = index.kind() == Kind::tuple;
    return index_tensor(base, many ? index.items() : std::vector<ir::Value>{index}, lookup);
  }
  if (kind == c10::TypeKind::TupleType && index.kind() == Kind::integer) {
    const auto elements = base->type()->expectRef<c10::TupleType>().elements();
    const auto place = from_front(index.as_int(), elements.size());
    if (!place) unsupported_error("a tuple index out of range");
    return graph_
        ->insertNode(graph_->createTupleIndex(base, constant(static_cast<std::int64_t>(*place)),
                                              elements[*place]))
        ->output();
  }
  if (kind == c10::TypeKind::DictType)
    return call_positional("aten::__getitem__.Dict_str", {base, lower_free(index, lookup)});
  if (kind == c10::TypeKind::ListType && index.kind() == Kind::slice) {
    std::vector<jit::Value*> arguments{base};
    for (const ir::Value& part : index.items()) arguments.push_back(lower_free(part, lookup));
    if (index.items()[2].is_none()) arguments.back() = constant(std::int64_t{1});
    return call_positional("aten::slice.t", arguments);
  }
  if (kind == c10::TypeKind::ListType)
    return call_positional("aten::__getitem__.t", {base, lower_free(index, lookup)});
  unsupported_error("indexing of " + base->type()->str());
}

}  // namespace mase::libtorch
