// The source of the op table: one row per MASE op with the ATen operators that compute it and how
// torch.fx writes each of them. op_table.cpp derives the public tables from these rows.
#pragma once

#include <vector>

#include "ir/op_table.hpp"

namespace mase::ir {

/// An ATen operator of a row. An empty target: the operator belongs to another row when it is
/// called as a function (batch_norm1d and batch_norm2d share aten::batch_norm).
struct CallSource {
  std::string_view aten;
  NodeKind kind = NodeKind::call_function;
  std::string_view target;
};

struct OpSource {
  std::string_view name;
  MaseType type;
  std::vector<CallSource> calls;
  std::vector<ArgRow> args;  ///< the operators' arguments in schema order (all overloads together)
  bool quantizable = false;
  std::string_view doc;
};

const std::vector<OpSource>& op_sources();
/// The rows, split by subject.
std::vector<OpSource> layer_sources();
std::vector<OpSource> activation_sources();
std::vector<OpSource> arithmetic_sources();
std::vector<OpSource> shape_sources();

inline CallSource function(std::string_view aten, std::string_view target) {
  return {aten, NodeKind::call_function, target};
}
inline CallSource method(std::string_view aten, std::string_view target) {
  return {aten, NodeKind::call_method, target};
}
inline CallSource shared(std::string_view aten) { return {aten, NodeKind::call_function, {}}; }

}  // namespace mase::ir
