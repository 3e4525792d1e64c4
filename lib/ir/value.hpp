// SPDX-License-Identifier: Apache-2.0
// Values: the arguments of a graph's nodes, and what is known about a node's result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/array.hpp"

namespace mase::ir {

using NodeId = std::int32_t;
inline constexpr NodeId no_node = -1;

class Value;

struct NodeRef {  ///< the result of another node, printed `%name`
  NodeId id = no_node;
  bool operator==(const NodeRef&) const = default;
};
struct TrainingFlag {  ///< true while training, printed `$training`
  bool operator==(const TrainingFlag&) const = default;
};
struct SliceValue;
struct ListValue;
struct TupleValue;
struct DictValue;

/// An argument: a constant, a reference to a node, or a container of these. Printed as
/// none, true, 3, 0.5, "text", %node, $training, [a, b], (a, b), {"k": v}, slice(a, b, c).
class Value {
 public:
  using List = std::vector<Value>;
  using Dict = std::vector<std::pair<std::string, Value>>;
  enum class Kind {
    none,
    boolean,
    integer,
    number,
    string,
    node,
    training,
    list,
    tuple,
    dict,
    slice
  };

  Value() = default;
  Value(bool v) : data_(v) {}
  Value(int v) : data_(static_cast<std::int64_t>(v)) {}
  Value(std::int64_t v) : data_(v) {}
  Value(double v) : data_(v) {}
  Value(const char* v) : data_(std::string(v)) {}
  Value(std::string v) : data_(std::move(v)) {}
  Value(NodeRef v) : data_(v) {}
  Value(TrainingFlag v) : data_(v) {}
  static Value list(List items) { return Value(Kind::list, std::move(items)); }
  static Value tuple(List items) { return Value(Kind::tuple, std::move(items)); }
  static Value slice(Value start, Value stop, Value step) {
    return Value(Kind::slice, List{std::move(start), std::move(stop), std::move(step)});
  }
  static Value dict(Dict entries) {
    Value v;
    v.kind_ = Kind::dict;
    v.data_ = std::move(entries);
    return v;
  }

  Kind kind() const;
  bool is_none() const { return kind() == Kind::none; }
  bool is_node() const { return kind() == Kind::node; }
  bool is_number() const { return kind() == Kind::integer || kind() == Kind::number; }
  bool as_bool() const;
  std::int64_t as_int() const;
  double as_double() const;  ///< accepts an integer
  const std::string& as_string() const;
  NodeId node() const;
  const List& items() const;  ///< of a list, tuple or slice (start, stop, step)
  List& items();
  const Dict& entries() const;
  Dict& entries();

  bool operator==(const Value& other) const;

  /// Calls f(NodeId) for every reference to a node, in order, inside containers too.
  template <class F>
  void for_each_node(F&& f) const {
    switch (kind()) {
      case Kind::node:
        f(node());
        break;
      case Kind::list:
      case Kind::tuple:
      case Kind::slice:
        for (const Value& item : items()) item.for_each_node(f);
        break;
      case Kind::dict:
        for (const auto& [key, item] : entries()) item.for_each_node(f);
        break;
      default:
        break;
    }
  }
  /// Replaces every reference to a node by the value f(NodeId), in order, inside containers too.
  template <class F>
  void change_nodes(F&& f) {
    switch (kind()) {
      case Kind::node:
        *this = f(node());
        break;
      case Kind::list:
      case Kind::tuple:
      case Kind::slice:
        for (Value& item : items()) item.change_nodes(f);
        break;
      case Kind::dict:
        for (auto& [key, item] : entries()) item.change_nodes(f);
        break;
      default:
        break;
    }
  }
  /// Replaces every reference to `from` by `to`; returns the number of replacements.
  int replace_node(NodeId from, NodeId to);

 private:
  Value(Kind kind, List items) : kind_(kind), data_(std::move(items)) {}
  Kind kind_ = Kind::none;  ///< tells list, tuple and slice apart; other kinds follow from data_
  std::variant<std::monostate, bool, std::int64_t, double, std::string, NodeRef, TrainingFlag, List,
               Dict>
      data_;
};

/// What is known about a result: a tensor's dtype and shape, a host value's type, or the elements
/// of a container. Its text form: float32[4, 16], int, float, bool, string, none, list(...),
/// tuple(...), dict("k": ...).
struct ValueInfo {
  enum class Kind { unknown, tensor, integer, number, boolean, string, none, list, tuple, dict };
  Kind kind = Kind::unknown;
  DType dtype = DType::float32;     ///< tensors
  Shape shape;                      ///< tensors
  std::vector<ValueInfo> elements;  ///< containers
  std::vector<std::string> keys;    ///< dicts, one per element

  static ValueInfo tensor(DType dtype, Shape shape) {
    ValueInfo info;
    info.kind = Kind::tensor;
    info.dtype = dtype;
    info.shape = std::move(shape);
    return info;
  }
  bool is_tensor() const { return kind == Kind::tensor; }
  /// One number on the host, a truth value included.
  bool is_number() const {
    return kind == Kind::integer || kind == Kind::number || kind == Kind::boolean;
  }
  bool operator==(const ValueInfo&) const = default;
};

}  // namespace mase::ir
