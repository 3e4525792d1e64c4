// SPDX-License-Identifier: Apache-2.0
// The graph, its signature and the metadata of its nodes. The schema is PyTorch's
// torch/_export/serde/schema.py; versions 7 (torch 2.5) and 8 differ in what is not read here.
#include "pt2/read_graph.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/json_items.hpp"
#include "base/text.hpp"
#include "pt2/conditions.hpp"
#include "pt2/dtypes.hpp"
#include "pt2/fields.hpp"
#include "pt2/inner_graphs.hpp"

namespace mase::pt2 {
namespace {

constexpr std::int64_t oldest_schema = 5, newest_schema = 8;

SymInt sym_int(const Tree& value, const std::string& what) {
  const UnionValue one = union_of(value, what);
  if (one.kind == "as_int") return {integer_of(one.value, what), ""};
  if (one.kind != "as_expr")
    file_error(what + " is '" + std::string(one.kind) + "', not an integer");
  SymInt result{std::nullopt, text_of(one.value, "expr_str")};
  if (const Tree* hint = one.value.find("hint"); hint && hint->is_dict()) {
    const UnionValue known = union_of(*hint, what);
    if (known.value.is_int()) result.value = known.value.as_int();
  }
  return result;
}

/// "KEY,PATH,CLASS;KEY,PATH,CLASS", in which a comma may be part of none of them.
std::vector<ModuleCall> module_calls(const std::string& text) {
  std::vector<ModuleCall> calls;
  for (const std::string& one : split(text, ';')) {
    const std::vector<std::string> parts = split(one, ',');
    if (parts.size() != 3) continue;
    // A class of the script that was run has no module, as in TorchScript.
    constexpr std::string_view script = "__main__.";
    const std::size_t skipped = parts[2].starts_with(script) ? script.size() : 0;
    calls.push_back({parts[0], parts[1], parts[2].substr(skipped)});
  }
  return calls;
}

/// "CALL;KIND.NAME"
PythonCall python_call(const std::string& text) {
  const std::vector<std::string> parts = split(text, ';');
  if (parts.size() != 2) return {};
  const std::size_t dot = parts[1].find('.');
  if (dot == std::string::npos) return {};
  return {parts[0], parts[1].substr(0, dot), parts[1].substr(dot + 1)};
}

/// Whether a frame of a stack is code of PyTorch rather than the model's.
bool is_of_torch(std::string_view frame) {
  return frame.starts_with("torch/") || frame.find("/torch/") != std::string_view::npos;
}

/// The innermost line of the model itself: `File "net.py", line 12, in forward` and its text.
void read_place(const std::string& stack, Node& node) {
  const std::vector<std::string> lines = split(stack, '\n');
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const std::string_view line = trim(lines[i]);
    if (!line.starts_with("File \"")) continue;
    const std::size_t end = line.find("\", line "), comma = line.find(',', end + 8);
    if (end == std::string_view::npos || comma == std::string_view::npos) continue;
    const std::string_view file = line.substr(6, end - 6);
    if (is_of_torch(file)) continue;
    node.place = std::string(file) + ":" + std::string(line.substr(end + 8, comma - end - 8));
    node.source = trim(lines[i + 1]);
  }
}

Node read_node(const Tree& tree) {
  Node node;
  node.target = text_of(tree, "target");
  const std::string what = "an input of " + node.target;
  for (const Tree& input : list_of(field(tree, "inputs"), "inputs")) {
    union_of(field(input, "arg"), what);
    node.inputs.push_back({text_of(input, "name"), field(input, "arg")});
  }
  node.outputs = list_of(field(tree, "outputs"), "outputs");
  for (const Tree& output : node.outputs) union_of(output, "an output of " + node.target);
  const Tree& metadata = field(tree, "metadata");
  node.modules = module_calls(text_or_empty(metadata, "nn_module_stack"));
  node.function = python_call(text_or_empty(metadata, "torch_fn"));
  read_place(text_or_empty(metadata, "stack_trace"), node);
  return node;
}

/// Where the schema of an input says its name in the graph and its key in the state_dict.
struct InputRow {
  std::string_view kind;
  InputSpec::Kind spec;
  std::string_view path;
};
constexpr InputRow input_rows[] = {
    {"parameter", InputSpec::Kind::parameter, "parameter_name"},
    {"buffer", InputSpec::Kind::buffer, "buffer_name"},
    {"tensor_constant", InputSpec::Kind::constant, "tensor_constant_name"},
};

InputSpec input_spec(const Tree& tree) {
  const UnionValue one = union_of(tree, "an input of the signature");
  const auto* row = std::ranges::find(input_rows, one.kind, &InputRow::kind);
  if (row != std::end(input_rows))
    return {row->spec, text_of(field(one.value, "arg"), "name"), text_of(one.value, row->path), {}};
  if (one.kind == "constant_input")
    return {InputSpec::Kind::number, text_of(one.value, "name"), "", field(one.value, "value")};
  if (one.kind != "user_input")
    unsupported_error("an input of kind '" + std::string(one.kind) +
                      "' has no counterpart; tensors, parameters, buffers and constants have one");
  const UnionValue user = union_of(field(one.value, "arg"), "an input");
  if (user.kind == "as_tensor") return {InputSpec::Kind::user, text_of(user.value, "name"), "", {}};
  if (user.kind == "as_sym_int")
    unsupported_error(
        "an input of the model is an integer; export with this argument fixed, or "
        "pass it as a tensor");
  return {InputSpec::Kind::number, "", "", field(one.value, "arg")};
}

/// Outputs that are the next values of an input, and where the schema says of which.
struct MutationRow {
  std::string_view kind;
  OutputSpec::Kind spec;
  std::string_view path;
};
constexpr MutationRow mutation_rows[] = {
    {"buffer_mutation", OutputSpec::Kind::tensor, "buffer_name"},
    {"parameter_mutation", OutputSpec::Kind::tensor, "parameter_name"},
    {"user_input_mutation", OutputSpec::Kind::user_input, "user_input_name"},
};

OutputSpec output_spec(const Tree& tree) {
  const UnionValue one = union_of(tree, "an output of the signature");
  OutputSpec spec;
  const Tree& argument = field(one.value, "arg");
  if (one.kind == "user_output") {
    spec.value = argument;
    return spec;
  }
  spec.value["as_tensor"] = argument;
  const auto* row = std::ranges::find(mutation_rows, one.kind, &MutationRow::kind);
  if (row != std::end(mutation_rows)) {
    spec.kind = row->spec;
    spec.path = text_of(one.value, row->path);
    return spec;
  }
  unsupported_error("an output of kind '" + std::string(one.kind) +
                    "' has no counterpart; export the model for inference");
}

/// The entry of module_call_graph for the whole model; nullptr if there is none.
const Tree* whole_call(const Tree& module) {
  const Tree* calls = module.find("module_call_graph");
  if (!calls || !calls->is_list()) return nullptr;
  for (const Tree& call : calls->as_list()) {
    const Tree* signature = call.find("signature");
    if (text_or_empty(call, "fqn").empty() && signature && signature->is_dict()) return signature;
  }
  return nullptr;
}

void read_signature(const Tree& module, Program& program) {
  const Tree& signature = field(module, "signature");
  for (const Tree& input : list_of(field(signature, "input_specs"), "input_specs"))
    program.inputs.push_back(input_spec(input));
  for (const Tree& output : list_of(field(signature, "output_specs"), "output_specs"))
    program.outputs.push_back(output_spec(output));
  const Tree* call = whole_call(module);
  if (!call) return;
  if (const Tree* names = call->find("forward_arg_names"); names && names->is_list())
    for (const Tree& name : names->as_list())
      if (name.is_string()) program.argument_names.push_back(name.as_string());
  if (const std::string spec = text_or_empty(*call, "out_spec"); !spec.empty())
    program.output_tree = parse_json(spec, "out_spec");
}

/// Adds a node, or those of the graph that it runs once.
void add_node(const Tree& tree, Program& program, int depth) {
  constexpr int deepest = 100;
  if (depth > deepest) unsupported_error("graphs within graphs are nested too deep");
  const auto inner = inner_graph(tree);
  if (!inner) return program.nodes.push_back(read_node(tree));
  for (const auto& [name, meta] : dict_of(field(*inner, "tensor_values"), "tensor_values"))
    program.tensors.emplace(name, tensor_info(meta, "'" + name + "'"));
  for (const auto& [name, value] : dict_of(field(*inner, "sym_int_values"), "sym_int_values"))
    program.integers.emplace(name, sym_int(value, "'" + name + "'"));
  for (const Tree& node : list_of(field(*inner, "nodes"), "nodes"))
    add_node(node, program, depth + 1);
}

/// Reads the long lists of a graph while the text is parsed: a Tree of all of it would be many
/// times as large as the text.
class GraphItems {
 public:
  explicit GraphItems(Program& program) : program_(program) {}

  bool take(std::span<const std::string> keys, const Tree& item) {
    if (keys[0] != "graph_module" || keys[1] != "graph") return false;
    const bool node = keys[2] == "nodes";
    if (!node && keys[2] != "tensor_values") return false;
    try {
      if (error_) return true;
      if (node)
        add_node(item, program_, 0);
      else
        describe(keys[3], item);
    } catch (const Error& error) {
      error_ = error;
    }
    return true;
  }
  /// The first error, which counts only if the file is of a version that is read here.
  const std::optional<Error>& error() const { return error_; }

 private:
  /// What an inner graph says of a tensor of this one counts only if this one says nothing.
  void describe(const std::string& name, const Tree& meta) {
    if (!described_.insert(name).second) file_error("tensor_values describes '" + name + "' twice");
    program_.tensors.insert_or_assign(name, tensor_info(meta, "'" + name + "'"));
  }

  Program& program_;
  std::set<std::string> described_;
  std::optional<Error> error_;
};

void check_version(const Tree& document) {
  const Tree& version = field(document, "schema_version");
  const std::int64_t major = integer_of(field(version, "major"), "schema_version.major");
  if (major < oldest_schema || major > newest_schema)
    unsupported_error("its schema has version " + std::to_string(major) + "; known are " +
                      std::to_string(oldest_schema) + " to " + std::to_string(newest_schema) +
                      ", which torch 2.4 to 2.14 write");
}

}  // namespace

const Tree* Node::find(std::string_view input) const {
  const auto found = std::ranges::find(inputs, input, &NodeArgument::name);
  return found == inputs.end() ? nullptr : &found->value;
}

TensorInfo tensor_info(const Tree& meta, const std::string& what) {
  TensorInfo info;
  info.dtype = dtype_of(integer_of(field(meta, "dtype"), "dtype"), what);
  for (const Tree& size : list_of(field(meta, "sizes"), "sizes"))
    info.sizes.push_back(sym_int(size, "a size of " + what));
  if (const Tree* strides = meta.find("strides"); strides && strides->is_list())
    for (const Tree& stride : strides->as_list())
      info.strides.push_back(sym_int(stride, "a stride of " + what));
  const Tree* grad = meta.find("requires_grad");
  info.requires_grad = grad && grad->is_bool() && grad->as_bool();
  return info;
}

void read_graph(std::string_view json, const std::string& name, Program& program) {
  constexpr std::size_t depth = 4;  // graph_module.graph.nodes[i]
  GraphItems items(program);
  const Tree document = parse_json_items(
      json, name, depth,
      [&](std::span<const std::string> keys, Tree& item) { return items.take(keys, item); });
  check_version(document);
  program.torch_version = text_or_empty(document, "torch_version");
  const Tree& module = field(document, "graph_module");
  const Tree& graph = field(module, "graph");
  read_signature(module, program);
  if (items.error()) throw *items.error();
  list_of(field(graph, "nodes"), "nodes");
  dict_of(field(graph, "tensor_values"), "tensor_values");
  for (const auto& [symbol, value] : dict_of(field(graph, "sym_int_values"), "sym_int_values"))
    program.integers.emplace(symbol, sym_int(value, "'" + symbol + "'"));
  program.conditions = conditions_of(document, program);
}

}  // namespace mase::pt2
