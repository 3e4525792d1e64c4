// SPDX-License-Identifier: Apache-2.0
// The op table: one row per op with its family, the operators and torch.nn classes that compute it,
// how torch.fx writes them, and which arguments are data, parameters or configuration. Names are
// compared exactly.
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

/// What an op does to elements, dimensions and channels. The rules of passes and hardware ask for
/// the family instead of names. Shapes are those of torch's documentation.
enum class OpFamily {
  linear,                  ///< product with a weight [outputs, inputs] along the last dimension
  convolution,             ///< [N, C, spatial...] with a weight [outputs, inputs, window...]
  transposed_convolution,  ///< the same with a weight [inputs, outputs, window...]
  matrix_product,          ///< [..., n, k] x [..., k, m] of two tensors
  added_product,           ///< a tensor plus a matrix product
  contraction,             ///< sums of products over dimensions that an equation names
  attention,               ///< softmax(q k^T) v by heads
  attention_layer,         ///< attention with its projections and the rest of its layer
  recurrent,               ///< matrices applied to the steps of a sequence, one after the other
  recurrent_layer,         ///< the same as a layer of torch.nn; its state has a port
  recurrent_cell,          ///< one such step
  batch_norm,              ///< normalizes each channel (dimension 1) over the batch
  instance_norm,           ///< normalizes each channel of each sample
  group_norm,              ///< normalizes groups of channels
  layer_norm,              ///< normalizes over the last dimensions
  pooling,                 ///< one number per window of a given size
  adaptive_pooling,        ///< one number per window, given the number of windows
  resampling,              ///< the input's images in another size
  embedding,               ///< rows of a table
  unary,                   ///< a function of each element: activations, sqrt
  channel_activation,      ///< a function of each element with a parameter per channel
  elementwise,             ///< a function of elements of several tensors that broadcast
  softmax,                 ///< exponentials divided by their sum along a dimension
  reduction,               ///< one number per row along dimensions, or elementwise of two tensors
  arg_reduction,           ///< the index of one number per row
  scan,                    ///< a running result along a dimension
  difference,              ///< of neighbours along a dimension
  copy,                    ///< the values of the input, or constants in its shape
  reshape,                 ///< the elements in the same order in another shape
  transpose,               ///< two dimensions swapped
  permute,                 ///< dimensions reordered
  expand,                  ///< dimensions of 1 repeated
  pad,                     ///< values around the edges
  concatenation,           ///< tensors one after the other along a dimension
  movement,                ///< elements chosen, repeated or moved in another way
  size,                    ///< the shape, or one dimension of it
  host_value,              ///< a number on the host
  creation,                ///< a tensor from numbers alone
  custom,                  ///< a custom op of the user's (custom_op.hpp)
  other                    ///< any other op, and every op outside of the table: it has no rule
};

/// One argument of an operator. `port` names the quantization port ("data_in", "weight", "bias",
/// "running_mean", "running_var"); empty for configuration.
struct ArgRow {
  std::string_view name;
  std::string_view port;
  /// The port whose format this one takes when a rule gives it no format. The state of a recurrent
  /// layer counts as data, as its input does; its matrices count as weights.
  std::string_view general = {};
  bool inner = false;  ///< the layer itself makes values for this port, even without an argument
};

/// One parameter of a function of torch.nn.functional that is written in Python. torch.fx shows the
/// optional arguments of such a function as keywords and fills in the defaults.
struct PythonParameter {
  std::string_view name;  ///< Python's name
  std::string_view aten;  ///< the operator's argument; empty when the operator has none for it
  bool required = false;  ///< required parameters are shown as positional
  Value fallback;         ///< Python's default
};
/// The parameters that `inspect.signature` gives for torch 2.13; empty for built-in functions.
using PythonSignature = std::vector<PythonParameter>;

/// An ATen operator that computes an op, and how torch.fx writes a call of it when nothing else is
/// known. An operator without a target belongs to another row when it is called as a function
/// (batch_norm1d and batch_norm2d share aten::batch_norm).
struct CallRow {
  std::string_view aten;                    ///< base name, "aten::add"
  NodeKind kind = NodeKind::call_function;  ///< or call_method
  std::string_view target = {};             ///< "_operator.add", "size", "torch.flatten"
  PythonSignature signature = {};
  bool variadic = false;     ///< a method that takes a list as separate arguments: x.view(a, b)
  std::string_view op = {};  ///< MASE op: the row that the call is in
};

/// A torch.nn class that is a leaf.
struct LayerRow {
  std::string_view class_name;  ///< "torch.nn.modules.linear.Linear"
  MaseType type = MaseType::module_related_func;
  std::string_view op = {};  ///< MASE op: the row that the class is in
};

/// One MASE op: everything that the program knows about an op by its name.
struct OpRow {
  std::string_view name;  ///< "linear"
  OpFamily family = OpFamily::other;
  MaseType type = MaseType::builtin_func;  ///< type as a function
  std::vector<CallRow> calls;              ///< operators that compute it, as modules or functions
  std::vector<LayerRow> modules = {};
  std::vector<ArgRow> args;  ///< in schema order, all overloads together: tensors with their ports
  bool quantizable = false;
  std::string_view doc;
  std::string_view expanded_by = {};  ///< the pass that takes it apart into other ops
};

const std::vector<OpRow>& op_table();
/// The classes of all rows, and the calls of all rows that have a target.
const std::vector<LayerRow>& layer_table();
const std::vector<CallRow>& call_table();

const OpRow* find_op(std::string_view name);
const LayerRow* find_module_class(std::string_view class_name);
const CallRow* find_call(std::string_view aten_base);
/// Whether a layer of this class computes the operator, "aten::conv2d.padding" for a Conv2d.
bool computes(const LayerRow& layer, std::string_view op);

/// The family of a MASE op; `other` for names outside of the table.
OpFamily family_of(std::string_view op);
/// The signature of a call target; nullptr when it is a built-in function, which has no signature.
const PythonSignature* python_signature(std::string_view target);

/// What a node is: its op row (null for ops outside the table), type and op name.
struct Classified {
  MaseType type;
  std::string op;  ///< MASE op; for an unknown operator its base name without "aten::"
  const OpRow* row;

  OpFamily family() const { return row ? row->family : OpFamily::other; }
};
Classified classify(const Graph& graph, const Node& node);

/// "aten::add.Tensor" → "aten::add".
std::string_view base_op(std::string_view op);
/// The base of the operator that gives the same result in a new tensor: "aten::add_.Tensor" →
/// "aten::add", "aten::__iand__" → "aten::__and__", which itself changes nothing in place and
/// stays.
std::string_view plain_op(std::string_view op);

/// A port of a node with the argument that feeds it. `argument` is the operator's argument name,
/// for function and module nodes alike.
struct Port {
  std::string name;      ///< "data_in", "weight", ...
  std::string argument;  ///< "input", "self", ...
  Value value;           ///< the node reference (or container of references) of data ports
  std::string tensor;    ///< the tensor path of parameter ports, otherwise ""
  /// Shape of the value at one step, for a port whose values the node itself makes at every step.
  std::optional<Shape> inner = std::nullopt;
};
/// The ports of the arguments that are present, in argument order. An argument of several tensors
/// (the weights of all levels of a recurrent layer) gives one port of the same name for each.
std::vector<Port> ports(const Graph& graph, const Node& node);
/// The port whose format `port` takes when a rule gives it no format: "weight" for "weight_ih"; for
/// most ports it is the port itself.
std::string_view general_port(std::string_view port);
/// The shape of the hidden state at one step of a recurrent layer or cell: [rows, features].
std::optional<Shape> state_shape(OpFamily family, const ValueInfo& result);
/// The names of the ports an op can have, "data_out" included; keys in TOML may begin with these.
std::vector<std::string> port_names(const OpRow& row);

/// Arguments as torch.fx shows them: positional and keyword.
struct FxArguments {
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> kwargs;
};
FxArguments fx_arguments(const Graph& graph, const Node& node);

}  // namespace mase::ir
