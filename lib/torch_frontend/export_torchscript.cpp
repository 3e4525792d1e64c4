// Export of a graph as a TorchScript archive: leaf methods, the top forward, and saving.
#include "torch_frontend/export_torchscript.hpp"

#include <torch/csrc/jit/api/module.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "torch_frontend/export_method.hpp"
#include "torch_frontend/export_tree.hpp"

namespace mase::torch_frontend {

namespace {

namespace jit = torch::jit;
using Operands = MethodBuilder::Operands;

c10::TypePtr type_of(const ir::ValueInfo& info) {
  using Kind = ir::ValueInfo::Kind;
  switch (info.kind) {
    case Kind::integer:
      return c10::IntType::get();
    case Kind::number:
      return c10::FloatType::get();
    case Kind::boolean:
      return c10::BoolType::get();
    case Kind::string:
      return c10::StringType::get();
    default:
      return c10::TensorType::get();
  }
}

/// Formats apply to float32 tensors only, as in the executor; what is unknown is taken for one.
bool takes_format(const ir::ValueInfo& info) {
  using Kind = ir::ValueInfo::Kind;
  if (info.kind == Kind::list)
    return std::all_of(info.elements.begin(), info.elements.end(), takes_format);
  if (info.kind == Kind::unknown) return true;
  return info.is_tensor() && info.dtype == DType::float32;
}

bool has_nodes(const ir::Value& value) {
  bool found = false;
  value.for_each_node([&](ir::NodeId) { found = true; });
  return found;
}

/// The formats of a node's ports, found by operator argument and, where a port is one item of a
/// list argument, by the node that feeds it.
class PortFormats {
 public:
  PortFormats(const ir::Graph& graph, const ir::Node& node) {
    if (node.formats.empty()) return;
    for (const ir::Port& port : ir::ports(graph, node)) {
      const auto format = node.formats.find(port.name);
      if (format == node.formats.end() || port.name == "data_out") continue;
      const ir::NodeId source = port.value.is_node() ? port.value.node() : ir::no_node;
      rows_.push_back({port.argument, source, &format->second});
    }
  }

  /// The format of an argument that is no node of the graph: a module's own tensor.
  const formats::Format* find(const std::string& argument) const {
    return find(argument, ir::no_node);
  }
  const formats::Format* find(const std::string& argument, ir::NodeId source) const {
    for (const Row& row : rows_)
      if (row.argument == argument && (row.source == ir::no_node || row.source == source))
        return row.format;
    return nullptr;
  }

 private:
  struct Row {
    std::string argument;
    ir::NodeId source;
    const formats::Format* format;
  };
  std::vector<Row> rows_;
};

ir::NodeId first_node(const ir::Value& value) {
  ir::NodeId first = ir::no_node;
  value.for_each_node([&](ir::NodeId id) { first = first == ir::no_node ? id : first; });
  return first;
}

/// TorchScript takes no name that is a number.
std::string debug_name(const std::string& name) {
  return std::isdigit(static_cast<unsigned char>(name.front())) ? "_" + name : name;
}

std::set<std::string> quantized_modules(const ir::Graph& graph) {
  std::set<std::string> paths;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    if (node.kind == ir::NodeKind::call_module && !node.formats.empty()) paths.insert(node.target);
  }
  return paths;
}

/// A method of a leaf: its name and result type.
struct LeafMethod {
  std::string name;
  c10::TypePtr result;
};

class Exporter {
 public:
  explicit Exporter(const ir::Graph& graph)
      : graph_(graph),
        tree_(build_module_tree(graph, quantized_modules(graph))),
        top_(tree_.modules.at("")) {}

  jit::Module build() {
    for (const ir::NodeId id : graph_.order()) {
      const ir::Node& node = graph_.node(id);
      try {
        emit(node);
      } catch (const Error& error) {
        throw Error(error.fault(), "export of node '" + node.name + "': " + error.what());
      } catch (const std::exception& error) {
        throw Error(Fault::internal,
                    "export of node '" + node.name + "' (" + node.op + "): " + error.what());
      }
    }
    return tree_.modules.at("");
  }

 private:
  void emit(const ir::Node& node) {
    if (node.kind == ir::NodeKind::output) {
      top_.finish("forward", quantize_output(top_, node, result(node)));
      return;
    }
    jit::Value* value = quantize_output(top_, node, raw_value(node));
    values_[node.id] = value;
    // Inputs keep the name of their placeholder, also when a node only passes them on.
    if (value->node()->kind() != c10::prim::Param) value->setDebugName(debug_name(node.name));
  }

  /// The value of a node before the format of its data_out.
  jit::Value* raw_value(const ir::Node& node) {
    switch (node.kind) {
      case ir::NodeKind::placeholder:
        return top_.add_input(node.target, type_of(node.info));
      case ir::NodeKind::get_attr:
        return top_.attribute(node.target);
      case ir::NodeKind::call_module:
        return call_leaf(node);
      default:
        return call_operator(node);
    }
  }

  jit::Value* result(const ir::Node& node) {
    const PortFormats formats(graph_, node);
    const ir::Argument& value = node.args.at(0);
    return top_.lower_free(value.value, lookup(formats, value.name));
  }

  MethodBuilder::NodeLookup lookup() {
    return [this](ir::NodeId id) { return values_.at(id); };
  }

  /// As `lookup`, with the tensors of one argument quantized on the way.
  MethodBuilder::NodeLookup lookup(const PortFormats& formats, const std::string& argument) {
    return [this, formats, argument](ir::NodeId id) {
      const formats::Format* format = formats.find(argument, id);
      jit::Value* value = values_.at(id);
      const bool quantized = format != nullptr && takes_format(graph_.node(id).info);
      return quantized ? top_.quantize(value, *format) : value;
    };
  }

  jit::Value* quantize_output(MethodBuilder& builder, const ir::Node& node, jit::Value* value) {
    const auto format = node.formats.find("data_out");
    const bool tensor = value->type()->isSubtypeOf(*c10::TensorType::get());
    if (format == node.formats.end() || !tensor || !takes_format(node.info)) return value;
    return builder.quantize(value, format->second);
  }

  jit::Value* call_operator(const ir::Node& node) {
    const PortFormats formats(graph_, node);
    if (node.op == "mase::getitem") {
      const ir::Argument& base = node.args.at(0);
      return top_.get_item(top_.lower_free(base.value, lookup(formats, base.name)),
                           node.args.at(1).value, lookup());
    }
    Operands operands;
    for (const ir::Argument& argument : node.args)
      operands.emplace_back(
          argument.name,
          [this, &argument, find_node = lookup(formats, argument.name)](const c10::TypePtr& type) {
            return top_.lower(argument.value, type, find_node);
          });
    return run(top_, node.op, operands);
  }

  /// An operator, or the first operand as it is for "mase::identity".
  static jit::Value* run(MethodBuilder& builder, const std::string& op, const Operands& operands) {
    if (op == "mase::identity") return operands.at(0).second(c10::TensorType::get());
    return builder.call(op, operands);
  }

  /// Tensors of a leaf that stand below another module (tied weights) are passed as arguments.
  static bool is_own(const ir::Module& module, const std::string& path) {
    return owner_of(path) == module.path;
  }

  jit::Value* call_leaf(const ir::Node& node) {
    const ir::Module& module = graph_.module_of(node);
    std::vector<jit::Value*> arguments;
    for (const ir::Argument& argument : node.args)
      if (has_nodes(argument.value)) arguments.push_back(top_.lower_free(argument.value, lookup()));
    for (const auto& [name, path] : module.tensors)
      if (!is_own(module, path)) arguments.push_back(top_.attribute(path));
    const LeafMethod& method = leaf_method(node, module, arguments);
    return top_.call_method(top_.attribute(module.path), method.name, arguments, method.result);
  }

  /// What makes two calls of a leaf different methods: formats, constants and operand types.
  std::string signature(const ir::Node& node) const {
    std::string text = node.target;
    for (const ir::Argument& argument : node.args)
      text += "|" + argument.name + "=" +
              (has_nodes(argument.value) ? float_mark(argument.value)
                                         : ir::print(graph_, argument.value));
    for (const auto& [port, format] : node.formats) text += "|" + port + ":" + format.text();
    return text + (takes_format(node.info) ? "" : "|plain");
  }

  std::string float_mark(const ir::Value& value) const {
    std::string marks = "%";
    value.for_each_node(
        [&](ir::NodeId id) { marks += takes_format(graph_.node(id).info) ? "f" : "-"; });
    return marks;
  }

  const LeafMethod& leaf_method(const ir::Node& node, const ir::Module& module,
                                const std::vector<jit::Value*>& arguments) {
    const std::string key = signature(node);
    const auto known = methods_.find(key);
    if (known != methods_.end()) return known->second;
    const int number = method_counts_[module.path]++;
    const std::string name = number == 0 ? "forward" : "forward" + std::to_string(number);
    const c10::TypePtr result = build_leaf_method(node, module, arguments, name);
    return methods_.emplace(key, LeafMethod{name, result}).first->second;
  }

  c10::TypePtr build_leaf_method(const ir::Node& node, const ir::Module& module,
                                 const std::vector<jit::Value*>& arguments,
                                 const std::string& name) {
    MethodBuilder leaf(tree_.modules.at(module.path));
    // All inputs come before the body.
    const std::vector<jit::Value*> inputs = add_inputs(leaf, node, module, arguments);
    Operands operands;
    add_data(leaf, node, inputs, operands);
    add_tensors(leaf, node, module, inputs, operands);
    for (const ir::Argument& attribute : module.attributes) add_constant(leaf, operands, attribute);
    count_batches(leaf, module);
    return leaf.finish(name, quantize_output(leaf, node, run(leaf, module.op, operands)));
  }

  static void add_value(Operands& operands, const std::string& argument, jit::Value* value) {
    operands.emplace_back(argument, [value](const c10::TypePtr&) { return value; });
  }

  /// The data arguments; `inputs` begins with those that are nodes.
  void add_data(MethodBuilder& leaf, const ir::Node& node, const std::vector<jit::Value*>& inputs,
                Operands& operands) {
    const PortFormats formats(graph_, node);
    auto input = inputs.begin();
    for (const ir::Argument& argument : node.args) {
      if (!has_nodes(argument.value)) {
        add_constant(leaf, operands, argument);
        continue;
      }
      const formats::Format* format = formats.find(argument.name, first_node(argument.value));
      const bool quantized = format != nullptr && is_floating(argument.value);
      jit::Value* value = *input++;
      add_value(operands, argument.name, quantized ? leaf.quantize(value, *format) : value);
    }
  }

  /// The tensor arguments; `inputs` ends with those that are not the leaf's own.
  void add_tensors(MethodBuilder& leaf, const ir::Node& node, const ir::Module& module,
                   const std::vector<jit::Value*>& inputs, Operands& operands) {
    const PortFormats formats(graph_, node);
    auto input = inputs.end() - count_foreign(module);
    for (const auto& [argument, path] : module.tensors) {
      jit::Value* tensor =
          is_own(module, path) ? leaf.attribute(std::string(last_part(path))) : *input++;
      const formats::Format* format = formats.find(argument);
      const bool quantized =
          format != nullptr && graph_.tensors.at(path).value.dtype() == DType::float32;
      add_value(operands, argument, quantized ? leaf.quantize(tensor, *format) : tensor);
    }
  }

  static std::ptrdiff_t count_foreign(const ir::Module& module) {
    return std::count_if(module.tensors.begin(), module.tensors.end(),
                         [&](const auto& tensor) { return !is_own(module, tensor.second); });
  }

  std::vector<jit::Value*> add_inputs(MethodBuilder& leaf, const ir::Node& node,
                                      const ir::Module& module,
                                      const std::vector<jit::Value*>& arguments) {
    std::vector<jit::Value*> inputs;
    const auto add = [&](const std::string& name) {
      inputs.push_back(leaf.add_input(name, arguments.at(inputs.size())->type()));
    };
    for (const ir::Argument& argument : node.args)
      if (has_nodes(argument.value)) add(argument.name);
    for (const auto& [argument, path] : module.tensors)
      if (!is_own(module, path)) add(argument);
    return inputs;
  }

  static void add_constant(MethodBuilder& leaf, Operands& operands, const ir::Argument& argument) {
    operands.emplace_back(argument.name, [&leaf, &argument](const c10::TypePtr& type) {
      return leaf.lower(argument.value, type, {});
    });
  }

  bool is_floating(const ir::Value& value) const {
    bool floating = true;
    value.for_each_node(
        [&](ir::NodeId id) { floating = floating && takes_format(graph_.node(id).info); });
    return floating;
  }

  /// Batch norms count the batches they were trained on.
  void count_batches(MethodBuilder& leaf, const ir::Module& module) {
    const std::string counter = "num_batches_tracked";
    if (module.op == "aten::batch_norm" && graph_.tensors.contains(module.path + "." + counter))
      leaf.count_while_training(leaf.attribute(counter));
  }

  const ir::Graph& graph_;
  ModuleTree tree_;
  MethodBuilder top_;
  std::map<ir::NodeId, jit::Value*> values_;
  std::map<std::string, LeafMethod> methods_;
  std::map<std::string, int> method_counts_;
};

/// Made in memory: PyTorch's writer ends the process when a write to disk fails. And through a stream
/// the archive's root folder is a constant instead of the file's name, so the bytes do not depend on
/// where they go.
void save(const jit::Module& module, const std::string& path,
          const std::map<std::string, std::string>& extra_files) {
  const jit::ExtraFilesMap extras(extra_files.begin(), extra_files.end());
  std::ostringstream bytes;
  module.save(bytes, extras);
  write_file(path, bytes.view());
}

}  // namespace

void export_torchscript(const ir::Graph& graph, const std::string& path,
                        const std::map<std::string, std::string>& extra_files) {
  try {
    save(Exporter(graph).build(), path, extra_files);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(Fault::internal, "export to '" + path + "' failed: " + error.what());
  }
}

}  // namespace mase::torch_frontend
