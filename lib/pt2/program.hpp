// SPDX-License-Identifier: Apache-2.0
// Exported programs of PyTorch (torch.export.save, ".pt2") as plain structures: the graph of ATen
// operators, what its inputs and outputs are, and the values of its tensors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.hpp"
#include "base/tree.hpp"

namespace mase::pt2 {

/// A size, or another integer that may depend on sizes of the inputs.
struct SymInt {
  std::optional<std::int64_t> value;  ///< of the example, for an expression
  std::string expression;             ///< as sympy writes it; empty for a number
};

/// What the file says of a tensor that the graph computes or reads.
struct TensorInfo {
  DType dtype = DType::float32;
  std::vector<SymInt> sizes, strides;
  bool requires_grad = false;
};

/// An argument of a node. `value` is a union of the schema: a dict of one entry, whose key says
/// what it is: {"as_tensor": {"name": "x"}}, {"as_ints": [2, 2]}, ...
struct NodeArgument {
  std::string name;
  Tree value;
};

/// A module of Python in whose forward a node was recorded.
struct ModuleCall {
  std::string call;        ///< one for every call of the module
  std::string path;        ///< "encoder.layers.0"; "" for the whole model
  std::string class_name;  ///< "torch.nn.modules.linear.Linear"
};

/// The Python function that a node was recorded in: "max_pool2d_1;function.max_pool2d".
struct PythonCall {
  std::string call;  ///< one for every call, "max_pool2d_1"
  std::string kind;  ///< "function", "builtin_function_or_method", "method_descriptor", ...
  std::string name;  ///< "max_pool2d"
};

struct Node {
  std::string target;  ///< "torch.ops.aten.conv2d.default", "_operator.mul"
  std::vector<NodeArgument> inputs;
  std::vector<Tree> outputs;        ///< unions, as in NodeArgument
  std::vector<ModuleCall> modules;  ///< the outermost first
  PythonCall function;
  std::string place;   ///< "net.py:12", or "" if unknown
  std::string source;  ///< this line of Python

  const Tree* find(std::string_view input) const;  ///< an argument; nullptr if it is left out
};

struct InputSpec {
  enum class Kind { user, parameter, buffer, constant, number };
  Kind kind = Kind::user;
  std::string name;  ///< in the graph
  std::string path;  ///< parameter, buffer and constant: the key of state_dict
  Tree value;        ///< number: a union
};

struct OutputSpec {
  enum class Kind { user, tensor, user_input };
  Kind kind = Kind::user;
  Tree value;        ///< a union
  std::string path;  ///< tensor: whose next value this is; user_input: the input's name
};

struct Program {
  std::string path;  ///< the file, for messages
  std::vector<Node> nodes;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::map<std::string, TensorInfo> tensors;  ///< by name in the graph
  std::map<std::string, SymInt> integers;     ///< by name in the graph
  std::map<std::string, Array> values;        ///< of parameters, buffers and constants, by path
  std::map<std::string, std::string> tied;    ///< the path of the same tensor that comes first
  std::set<std::string> parameters;           ///< paths of those values that are parameters
  std::vector<std::string> argument_names;    ///< of forward
  Tree output_tree;                           ///< how Python nests the outputs, or null
  /// Conditions on sizes of inputs under which the program is the model, as guards have them.
  std::vector<std::string> conditions;
  std::string torch_version;  ///< "2.13.0", or "" if the file does not say
};

/// Whether a file is a zip archive with the entries of an exported program.
bool is_exported_program(const std::string& path);

/// Reads and checks a file. Runs none of its code. Error(Fault::file) that names the file and the
/// entry or key that is wrong, and Error(Fault::unsupported) for versions, tensors and inputs that
/// have no counterpart.
Program read_program(const std::string& path);

}  // namespace mase::pt2
