// The op table: which operators the program knows, their MASE type and op, how torch.fx names them,
// and which of their arguments are data, parameters or configuration. Exact names, no matching.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace mase::ir {

enum class MaseType {
  module,
  module_related_func,
  builtin_func,
  implicit_func,
  placeholder,
  get_attr,
  output
};
std::string_view mase_type_name(MaseType type);

/// One argument of an operator. `port` names the quantization port ("data_in", "weight", "bias",
/// "running_mean", "running_var"); empty for configuration.
struct ArgRow {
  std::string_view name;
  std::string_view port;
};

/// One MASE op: row of the table. `aten` lists the operators that compute it (base names).
struct OpRow {
  std::string_view name;               ///< "linear"
  MaseType type;                       ///< type as a function
  std::vector<std::string_view> aten;  ///< {"aten::linear"}; for modules and functions alike
  std::vector<ArgRow> args;            ///< tensor arguments with ports, then known configuration
  bool quantizable = false;
  std::string_view doc;
};

/// A torch.nn class that is a leaf.
struct ModuleRow {
  std::string_view class_name;  ///< "torch.nn.modules.linear.Linear"
  std::string_view op;          ///< MASE op
  MaseType type;
};

/// How an ATen operator in a graph is written by torch.fx when nothing else is known.
struct CallRow {
  std::string_view aten;    ///< base name, "aten::add"
  NodeKind kind;            ///< call_function or call_method
  std::string_view target;  ///< "_operator.add", "size", "torch.flatten"
  std::string_view op;      ///< MASE op
};

const std::vector<OpRow>& op_table();
const std::vector<ModuleRow>& module_table();
const std::vector<CallRow>& call_table();

const OpRow* find_op(std::string_view name);
const ModuleRow* find_module_class(std::string_view class_name);
const CallRow* find_call(std::string_view aten_base);

/// What a node is: its op row (null for ops outside the table), type and op name.
struct Classified {
  MaseType type;
  std::string op;  ///< MASE op; for an unknown operator its base name without "aten::"
  const OpRow* row;
};
Classified classify(const Graph& graph, const Node& node);

/// "aten::add.Tensor" → "aten::add".
std::string_view base_op(std::string_view op);

/// A port of a node with the argument that feeds it, in argument order. Function and module nodes
/// alike: `argument` is the operator's argument name. Only arguments that are present are listed.
struct Port {
  std::string name;      ///< "data_in", "weight", ...
  std::string argument;  ///< "input", "self", ...
  Value value;           ///< the node reference (or container of references) of data ports
  std::string tensor;    ///< the tensor path of parameter ports, else ""
};
std::vector<Port> ports(const Graph& graph, const Node& node);
/// Port names an op can have, "data_out" included: what TOML keys may be prefixed with.
std::vector<std::string> port_names(const OpRow& row);

/// Arguments as torch.fx shows them: positional and keyword.
struct FxArguments {
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> kwargs;
};
FxArguments fx_arguments(const Graph& graph, const Node& node);

}  // namespace mase::ir
