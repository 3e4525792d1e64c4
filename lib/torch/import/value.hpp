// SPDX-License-Identifier: Apache-2.0
// Abstract values of the importer's partial evaluation.
#pragma once

#include <ATen/core/ivalue.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/value.hpp"

namespace mase::libtorch {

struct Cell;
/// Cells are shared. An in-place operator changes the cell, so that every name of a tensor sees it.
using Ref = std::shared_ptr<Cell>;

/// An operator that takes a part of a tensor (slice, select or unsqueeze), with its arguments after
/// the tensor.
struct ViewStep {
  std::string op;  ///< "aten::slice.Tensor"
  std::vector<std::pair<std::string, Ref>> args;
};

/// The part of a tensor that a subscript selects. Changing it in place changes the tensor.
struct View {
  Ref base;
  std::vector<ViewStep> steps;  ///< in order, from the base to the part
  ir::Value index;              ///< the same steps as one subscript
};

/// What the interpreter knows about a TorchScript value.
struct Cell {
  /// The kinds of values.
  enum class Kind {
    constant,   ///< `value` is the same for every input
    dynamic,    ///< the result of node `node`; `value` is its result on the example
    attribute,  ///< the tensor at `path`
    module,     ///< the module `value` at `path`
    function,   ///< `function`
    list,
    tuple,
    dict,
    object  ///< of a class of the program; `keys` are the names of its fields `items`
  };
  Kind kind = Kind::constant;
  c10::IValue value;
  std::string path;
  /// dynamic: a node of the graph; or, below no_node, a record of the open scope (see Builder); or
  /// no_node for a host value that only conditions may use.
  ir::NodeId node = ir::no_node;
  std::vector<Ref> items;
  std::vector<c10::IValue> keys;     ///< dict and object, one per item
  c10::TypePtr type;                 ///< function, object; element type of lists
  bool tainted = false;              ///< a constant that depends on the attribute `training`
  bool from_data = false;            ///< a host value computed from a tensor's values
  bool size_tensor = false;          ///< a host number that a trace wraps in a 0-dim tensor
  bool from_sizes = false;           ///< a tensor computed only from sizes and constants
  bool stale = false;                ///< holds values from before an in-place change
  std::shared_ptr<const View> view;  ///< for a tensor that is a part of another
  std::string text;                  ///< dynamic host values: a readable expression, for guards
};

inline Ref make_cell(Cell cell) { return std::make_shared<Cell>(std::move(cell)); }

inline Ref constant_cell(c10::IValue value, bool tainted = false) {
  Cell cell;
  cell.value = std::move(value);
  cell.tainted = tainted;
  return make_cell(std::move(cell));
}

inline bool is_container(const Cell& cell) {
  return cell.kind == Cell::Kind::list || cell.kind == Cell::Kind::tuple ||
         cell.kind == Cell::Kind::dict;
}

/// Whether a value is the same for every input: constants, modules, functions, containers of these.
inline bool is_static(const Cell& cell) {
  if (cell.kind == Cell::Kind::dynamic || cell.kind == Cell::Kind::attribute) return false;
  for (const Ref& item : cell.items) {
    if (!is_static(*item)) return false;
  }
  return true;
}

inline bool is_tainted(const Cell& cell) {
  if (cell.tainted) return true;
  for (const Ref& item : cell.items) {
    if (is_tainted(*item)) return true;
  }
  return false;
}

/// Visits the cells in a container, including nested ones, or a single cell.
template <class Visit>
void for_each_leaf(const Ref& cell, const Visit& visit) {
  if (!is_container(*cell)) return visit(*cell);
  for (const Ref& item : cell->items) for_each_leaf(item, visit);
}

/// Whether a value is a tensor at run time, and not a size that a trace wraps in one.
inline bool is_tensor(const Cell& cell) {
  return cell.value.isTensor() && !cell.size_tensor && !is_container(cell);
}

/// The concrete value, with containers built. `type` is the list type an operator takes, or null.
c10::IValue concrete(const Cell& cell, const c10::TypePtr& type = nullptr);

}  // namespace mase::libtorch
