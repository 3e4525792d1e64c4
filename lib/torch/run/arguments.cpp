// SPDX-License-Identifier: Apache-2.0
// Builds the arguments of operators from the graph's constants and lists.
#include "torch/run/arguments.hpp"

#include <ATen/core/ivalue.h>

#include "base/error.hpp"
#include "torch/run/compat.hpp"

namespace mase::libtorch {
namespace {

using Kind = ir::Value::Kind;

[[noreturn]] void misfit(const c10::TypePtr& type) {
  file_error("an argument does not fit the operator's type " + type->str());
}

c10::TypePtr element_of(const c10::TypePtr& type) {
  if (type && type->kind() == c10::TypeKind::OptionalType) {
    return element_of(type->expectRef<c10::OptionalType>().getElementType());
  }
  if (type && type->kind() == c10::TypeKind::ListType) {
    return type->expectRef<c10::ListType>().getElementType();
  }
  return c10::AnyType::get();
}

bool is_sequence(const ir::Value& value) {
  return value.kind() == Kind::list || value.kind() == Kind::tuple;
}

c10::IValue list_value(const ir::Value& value, const c10::TypePtr& type, int count) {
  const c10::TypePtr element = element_of(type);
  std::vector<c10::IValue> items;
  if (is_sequence(value)) {
    for (const ir::Value& item : value.items()) items.push_back(to_ivalue(item, element));
  } else {
    if (count <= 0) misfit(type);
    items.assign(static_cast<std::size_t>(count), to_ivalue(value, element));
  }
  return make_list(std::move(items), type);
}

template <class T, class Get>
c10::IValue typed_list(const std::vector<c10::IValue>& items, Get get) {
  c10::List<T> list;
  list.reserve(items.size());
  for (const c10::IValue& item : items) list.push_back(get(item));
  return list;
}

double as_number(const c10::IValue& item) {
  return item.isInt() ? static_cast<double>(item.toInt()) : item.toDouble();
}

c10::IValue optional_tensor_list(const std::vector<c10::IValue>& items) {
  return typed_list<compat::optional<at::Tensor>>(items, [](const c10::IValue& item) {
    return item.isNone() ? compat::optional<at::Tensor>() : item.toTensor();
  });
}

template <class Test>
bool all_of(const std::vector<c10::IValue>& items, Test test) {
  return !items.empty() && std::all_of(items.begin(), items.end(), test);
}

/// A list whose type is not in the schema. It gets the type of its items if they agree.
c10::IValue untyped_list(const std::vector<c10::IValue>& items) {
  if (all_of(items, [](const c10::IValue& v) { return v.isTensor(); }))
    return make_list(items, c10::ListType::ofTensors());
  const auto is_like_first = [&](const c10::IValue& v) { return *v.type() == *items[0].type(); };
  c10::impl::GenericList list(all_of(items, is_like_first) ? items[0].type() : c10::AnyType::get());
  for (const c10::IValue& item : items) list.push_back(item);
  return list;
}

}  // namespace

c10::IValue make_list(std::vector<c10::IValue> items, const c10::TypePtr& type) {
  const c10::TypePtr element = element_of(type);
  switch (element->kind()) {
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return typed_list<std::int64_t>(items, [](const auto& item) { return item.toInt(); });
    case c10::TypeKind::FloatType:
      return typed_list<double>(items, as_number);
    case c10::TypeKind::BoolType:
      return typed_list<bool>(items, [](const auto& item) { return item.toBool(); });
    case c10::TypeKind::TensorType:
      return typed_list<at::Tensor>(items, [](const auto& item) { return item.toTensor(); });
    case c10::TypeKind::OptionalType:
      return optional_tensor_list(items);
    case c10::TypeKind::StringType:
      return typed_list<std::string>(items, [](const auto& item) { return item.toStringRef(); });
    default:
      return untyped_list(items);
  }
}

c10::IValue to_ivalue(const ir::Value& value) {
  switch (value.kind()) {
    case Kind::none:
      return {};
    case Kind::boolean:
      return value.as_bool();
    case Kind::integer:
      return value.as_int();
    case Kind::number:
      return value.as_double();
    case Kind::string:
      return value.as_string();
    case Kind::list:
      return list_value(value, nullptr, 0);
    case Kind::tuple: {
      std::vector<c10::IValue> items;
      for (const ir::Value& item : value.items()) items.push_back(to_ivalue(item));
      return c10::ivalue::Tuple::create(std::move(items));
    }
    default:
      file_error("a constant of this kind cannot be an operator's argument");
  }
}

c10::IValue to_ivalue(const ir::Value& value, const c10::TypePtr& type, int count) {
  switch (type->kind()) {
    case c10::TypeKind::OptionalType:
      if (value.is_none()) return {};
      return to_ivalue(value, type->expectRef<c10::OptionalType>().getElementType(), count);
    case c10::TypeKind::ListType:
      return list_value(value, type, count);
    case c10::TypeKind::FloatType:
      if (value.is_number()) return value.as_double();
      misfit(type);
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      if (value.kind() == Kind::integer) return value.as_int();
      if (value.kind() == Kind::boolean) return static_cast<std::int64_t>(value.as_bool());
      misfit(type);
    case c10::TypeKind::BoolType:
      if (value.kind() == Kind::boolean) return value.as_bool();
      misfit(type);
    case c10::TypeKind::DeviceObjType:
      if (value.kind() == Kind::string) return c10::Device(value.as_string());
      misfit(type);
    case c10::TypeKind::TensorType:
      misfit(type);
    default:
      return to_ivalue(value);
  }
}

}  // namespace mase::libtorch
