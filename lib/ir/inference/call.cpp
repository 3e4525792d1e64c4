// SPDX-License-Identifier: Apache-2.0
// Reads arguments, and writes the errors of operands that do not fit.
#include "ir/inference/call.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/from_front.hpp"
#include "ir/dimension_map.hpp"
#include "ir/inference/dtypes.hpp"
#include "ir/inference/host_values.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"

namespace mase::ir {
namespace {

ValueInfo tensor_info(const Graph& graph, const std::string& path) {
  const auto found = graph.tensors.find(path);
  if (found == graph.tensors.end()) file_error("the graph has no tensor '" + path + "'");
  return ValueInfo::tensor(found->second.value.dtype(), found->second.value.shape());
}

ValueInfo::Kind kind_of_constant(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::boolean:
    case Value::Kind::training:
      return ValueInfo::Kind::boolean;
    case Value::Kind::integer:
      return ValueInfo::Kind::integer;
    case Value::Kind::number:
      return ValueInfo::Kind::number;
    case Value::Kind::string:
      return ValueInfo::Kind::string;
    case Value::Kind::none:
      return ValueInfo::Kind::none;
    case Value::Kind::list:
      return ValueInfo::Kind::list;
    case Value::Kind::tuple:
      return ValueInfo::Kind::tuple;
    case Value::Kind::dict:
      return ValueInfo::Kind::dict;
    default:
      return ValueInfo::Kind::unknown;
  }
}

}  // namespace

std::string_view Call::op() const {
  const bool layer = node_.kind == NodeKind::call_module;
  return base_op(layer ? graph_.module_of(node_).op : node_.op);
}

const Value* Call::value(std::string_view name) const {
  const Value* found = graph_.argument(node_, name);
  return found && !found->is_none() ? found : nullptr;
}

std::optional<ValueInfo> Call::find(std::string_view name) const {
  if (const Value* given = value(name)) {
    ValueInfo info = info_of(*given);
    if (info.kind == ValueInfo::Kind::none) return std::nullopt;
    return info;
  }
  const bool layer = node_.kind == NodeKind::call_module;
  const std::string* path = layer ? graph_.module_of(node_).tensor(name) : nullptr;
  if (!path) return std::nullopt;
  return tensor_info(graph_, *path);
}

ValueInfo Call::tensor(std::string_view name) const {
  std::optional<ValueInfo> found = find(name);
  require(found && found->is_tensor(), "its argument '" + std::string(name) + "' is not a tensor");
  return std::move(*found);
}

std::vector<ValueInfo> Call::tensors(std::string_view name) const {
  const std::optional<ValueInfo> found = find(name);
  if (!found) return {};
  if (found->is_tensor()) return {*found};
  for (const ValueInfo& item : found->elements)
    require(item.is_tensor(), "its argument '" + std::string(name) + "' holds no tensors alone");
  return found->elements;
}

ValueInfo Call::input() const {
  for (const char* name : {"self", "input"})
    if (has(name)) return tensor(name);
  require(!node_.args.empty(), "it has no argument");
  return tensor(node_.args.front().name);
}

ValueInfo Call::info_of(const Value& value) const {
  if (value.is_node()) return known_.info(value.node());
  ValueInfo info;
  info.kind = kind_of_constant(value.kind());
  if (value.kind() == Value::Kind::list || value.kind() == Value::Kind::tuple)
    for (const Value& item : value.items()) info.elements.push_back(info_of(item));
  if (value.kind() == Value::Kind::dict)
    for (const auto& [key, item] : value.entries()) {
      info.keys.push_back(key);
      info.elements.push_back(info_of(item));
    }
  return info;
}

std::optional<Value> Call::evaluated(const Value& value) const {
  std::optional<Value> known = HostValues(graph_, known_).of(value);
  if (!known) depends_on_values();
  return known;
}

std::int64_t Call::integer_of(const Value& value) const {
  const std::optional<Value> known = evaluated(value);
  if (!known) return 1;
  if (known->kind() == Value::Kind::boolean) return known->as_bool() ? 1 : 0;
  require(known->kind() == Value::Kind::integer,
          "it takes an integer, given " + print(graph_, *known));
  return known->as_int();
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  const Value* given = value(name);
  return given ? integer_of(*given) : otherwise;
}

double Call::number_of(const Value& value) const {
  const std::optional<Value> known = evaluated(value);
  if (!known) return 1;
  require(known->is_number(), "it takes a number, given " + print(graph_, *known));
  return known->as_double();
}

double Call::number(std::string_view name, double otherwise) const {
  const Value* given = value(name);
  return given ? number_of(*given) : otherwise;
}

double Call::number_at(std::string_view name, std::size_t place) const {
  const Value* given = value(name);
  require(given != nullptr, "its argument '" + std::string(name) + "' is missing");
  const Value::List* items = items_of(given);
  if (!items) return number_of(*given);
  require(place < items->size(), "'" + std::string(name) + "' has too few numbers");
  return number_of((*items)[place]);
}

bool Call::truth(std::string_view name, bool otherwise) const {
  const Value* given = value(name);
  if (!given) return otherwise;
  if (given->kind() == Value::Kind::training) return false;
  const std::optional<Value> known = evaluated(*given);
  if (known && known->kind() == Value::Kind::integer) return known->as_int() != 0;
  return known && known->kind() == Value::Kind::boolean && known->as_bool();
}

std::string Call::text(std::string_view name, const std::string& otherwise) const {
  const Value* given = value(name);
  return given && given->kind() == Value::Kind::string ? given->as_string() : otherwise;
}

Call::Integers Call::integers(std::string_view name) const {
  const Value* given = value(name);
  if (!given) return {};
  std::optional<Value> list = *given;
  if (given->is_node()) list = evaluated(*given);
  if (!list) return {};
  const Value::List* items = items_of(&*list);
  if (!items) return {integer_of(*list)};
  Integers numbers;
  for (const Value& item : *items) numbers.push_back(integer_of(item));
  return numbers;
}

Call::Integers Call::integers(std::string_view name, std::size_t count,
                              std::int64_t otherwise) const {
  Integers numbers = integers(name);
  if (numbers.empty()) numbers = {otherwise};
  if (numbers.size() == 1) numbers.resize(count, numbers.front());
  require(numbers.size() == count, "'" + std::string(name) + "' has " +
                                       std::to_string(numbers.size()) + " numbers for " +
                                       std::to_string(count) + " dimensions");
  require_moderate(numbers);
  return numbers;
}

std::optional<DType> Call::dtype(std::string_view name) const {
  const Value* given = value(name);
  if (!given || given->kind() != Value::Kind::integer) return std::nullopt;
  const std::optional<DType> found = dtype_of_number(given->as_int());
  require(found.has_value(), "tensors of type " + std::to_string(given->as_int()) +
                                 " are not supported; supported are real numbers, integers and "
                                 "bool");
  return found;
}

std::size_t Call::dimension(std::int64_t index, std::size_t rank) const {
  const auto place = from_front(index, std::max<std::size_t>(rank, 1));
  require(place.has_value(),
          "there is no dimension " + std::to_string(index) + " among " + std::to_string(rank));
  return *place;
}

std::size_t Call::dimension(std::string_view name, std::size_t rank, std::int64_t otherwise) const {
  const Integers given = integers(name);
  return dimension(given.size() == 1 ? given.front() : otherwise, rank);
}

std::vector<bool> Call::dimensions(std::string_view name, std::size_t rank) const {
  const Integers given = integers(name);
  std::vector<bool> named(std::max<std::size_t>(rank, 1), given.empty());
  for (const std::int64_t index : given) named[dimension(index, rank)] = true;
  named.resize(rank);
  return named;
}

Shape Call::broadcast(const std::vector<Shape>& shapes) const {
  std::size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  Shape common(rank, 1);
  for (const Shape& shape : shapes)
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& size = common[rank - shape.size() + i];
      if (size == 1) size = shape[i];
      require(shape[i] == 1 || shape[i] == size, "the sizes " + std::to_string(size) + " and " +
                                                     std::to_string(shape[i]) +
                                                     " do not go together");
    }
  return common;
}

DType Call::promoted(const std::vector<ValueInfo>& operands) const {
  const std::optional<DType> common = ir::promoted(operands);
  require(common.has_value(), "its operands have no common dtype");
  return *common;
}

std::int64_t Call::sum(std::int64_t a, std::int64_t b) const {
  std::int64_t result = 0;
  require(!__builtin_add_overflow(a, b, &result), "a size does not fit 64 bits");
  return result;
}

std::int64_t Call::product(std::int64_t a, std::int64_t b) const {
  std::int64_t result = 0;
  require(!__builtin_mul_overflow(a, b, &result), "a size does not fit 64 bits");
  return result;
}

std::int64_t Call::elements(const Shape& shape) const {
  const bool valid = std::ranges::all_of(shape, [](std::int64_t size) { return size >= 0; });
  const auto count = valid ? product_of(shape) : std::nullopt;
  require(count.has_value(), "there is no tensor of the shape " + shape_text(shape));
  return *count;
}

void Call::require_moderate(const Shape& shape) const {
  constexpr std::int64_t most = std::int64_t{1} << 31U;
  for (const std::int64_t size : shape)
    require(-most < size && size < most, "the number " + std::to_string(size) + " is too large");
}

std::string Call::operands_text() const {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& what) {
    text += (text.empty() ? "" : ", ") + name + "=" + what;
  };
  for (const Argument& argument : node_.args) {
    const ValueInfo info = info_of(argument.value);
    const bool constant = !argument.value.is_node() && info.elements.empty();
    add(argument.name, constant ? print(graph_, argument.value) : print(info));
  }
  if (node_.kind == NodeKind::call_module)
    for (const auto& [name, path] : graph_.module_of(node_).tensors)
      add(name, print(tensor_info(graph_, path)));
  return text;
}

void Call::misfit(const std::string& why) const {
  file_error("node '" + node_.name + "' (" + std::string(op()) + "): " + why + "; given " +
             operands_text());
}

}  // namespace mase::ir
