// SPDX-License-Identifier: Apache-2.0
// Access, comparison and rewriting of argument values.
#include "ir/value.hpp"

#include <bit>
#include <cmath>

namespace mase::ir {

Value::Kind Value::kind() const {
  switch (data_.index()) {
    case 0:
      return Kind::none;
    case 1:
      return Kind::boolean;
    case 2:
      return Kind::integer;
    case 3:
      return Kind::number;
    case 4:
      return Kind::string;
    case 5:
      return Kind::node;
    case 6:
      return Kind::training;
    default:
      return kind_;
  }
}

bool Value::as_bool() const {
  MASE_CHECK(kind() == Kind::boolean, "value read as a bool");
  return std::get<bool>(data_);
}

std::int64_t Value::as_int() const {
  MASE_CHECK(kind() == Kind::integer, "value read as an integer");
  return std::get<std::int64_t>(data_);
}

double Value::as_double() const {
  if (kind() == Kind::integer) return static_cast<double>(std::get<std::int64_t>(data_));
  MASE_CHECK(kind() == Kind::number, "value read as a number");
  return std::get<double>(data_);
}

const std::string& Value::as_string() const {
  MASE_CHECK(kind() == Kind::string, "value read as a string");
  return std::get<std::string>(data_);
}

NodeId Value::node() const {
  MASE_CHECK(kind() == Kind::node, "value read as a node");
  return std::get<NodeRef>(data_).id;
}

const Value::List& Value::items() const {
  MASE_CHECK(std::holds_alternative<List>(data_), "value read as a container");
  return std::get<List>(data_);
}

Value::List& Value::items() {
  MASE_CHECK(std::holds_alternative<List>(data_), "value read as a container");
  return std::get<List>(data_);
}

const Value::Dict& Value::entries() const {
  MASE_CHECK(std::holds_alternative<Dict>(data_), "value read as a dict");
  return std::get<Dict>(data_);
}

Value::Dict& Value::entries() {
  MASE_CHECK(std::holds_alternative<Dict>(data_), "value read as a dict");
  return std::get<Dict>(data_);
}

namespace {

// Constants are equal when they compute the same: 0.0 differs from -0.0, but all NaNs are equal.
bool same_constant(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

bool Value::operator==(const Value& other) const {
  if (kind() != other.kind()) return false;
  if (kind() == Kind::number) return same_constant(as_double(), other.as_double());
  return data_ == other.data_;
}

int Value::replace_node(NodeId from, NodeId to) {
  int count = 0;
  change_nodes([&](NodeId id) -> Value {
    count += id == from ? 1 : 0;
    return NodeRef{id == from ? to : id};
  });
  return count;
}

}  // namespace mase::ir
