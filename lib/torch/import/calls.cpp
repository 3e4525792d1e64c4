// SPDX-License-Identifier: Apache-2.0
// The importer's inputs and calls. It decides which layers and functions become one node.
#include "torch/import/interpreter.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "torch/import/module.hpp"
#include "torch/import/recurrent.hpp"
#include "torch/run/arguments.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {
namespace {

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> argument_names(const jit::Function& forward) {
  std::vector<std::string> names;
  const auto& arguments = forward.getSchema().arguments();
  for (std::size_t i = 1; i < arguments.size(); ++i) names.push_back(arguments[i].name());
  return names;
}

}  // namespace

void Importer::run(const jit::Module& module) {
  root_ = module;
  Cell self;
  self.kind = Cell::Kind::module;
  self.value = module._ivalue();
  const jit::Function& forward = module.get_method("forward").function();
  traced_ = is_traced(*jit::toGraphFunction(forward).graph());
  const std::vector<Ref> arguments = forward_arguments(forward, make_cell(self));
  take_state();
  finish(call_forward(forward, arguments));
  check_leaves("--leaf-module", options_.leaf_modules, classes_);
  check_leaves("--leaf-function", options_.leaf_functions, functions_);
  check_custom_ops();
}

Ref Importer::call_forward(const jit::Function& forward, const std::vector<Ref>& arguments) {
  try {
    return call_function(forward, arguments);
  } catch (const OwnTensorChanged&) {
    throw;
  } catch (const Error&) {  // too many inputs would be the clearer reason
    if (state_.empty()) require_all_used(used_, options_.inputs.size());
    throw;
  }
}

void Importer::check_leaves(const std::string& option, const std::vector<std::string>& wanted,
                            const std::set<std::string>& met) const {
  for (const std::string& name : wanted) {
    if (!met.contains(name)) config_error(option + " " + name + ": " + not_called(name, met));
  }
}

std::string Importer::not_called(const std::string& name, const std::set<std::string>& met) const {
  if (traced_ && &met == &functions_) return "a traced model keeps layers, but no functions";
  const std::vector<std::string> names(met.begin(), met.end());
  const auto is_whole = [&](const std::string& known) { return known.ends_with("." + name); };
  const auto whole = std::ranges::find_if(names, is_whole);
  if (whole != names.end() && std::find_if(whole + 1, names.end(), is_whole) == names.end())
    return "give the full name of the leaf: '" + *whole + "'";
  return "the model calls nothing named '" + name + "'" +
         did_you_mean(name, names, names.empty() ? "" : "; it calls " + join(names, ", "));
}

void Importer::check_custom_ops() const {
  Diagnostics problems;
  for (const auto& [name, op] : options_.custom_ops) {
    const bool of_class = op->function.empty();
    const auto& met = of_class ? classes_ : functions_;
    const std::string& wanted = of_class ? op->class_name : op->function;
    if (!met.contains(wanted))
      problems.error(op->where, "custom_ops." + name + ": " + not_called(wanted, met));
  }
  problems.throw_if_errors();
}

const ir::CustomOp* Importer::custom_op(std::string ir::CustomOp::*kind,
                                        const std::string& name) const {
  for (const auto& [key, op] : options_.custom_ops)
    if ((*op).*kind == name) return op.get();
  return nullptr;
}

bool Importer::is_traced(jit::Graph& graph) {
  for (const jit::Node* node : graph.nodes()) {
    const std::string text = source_of(node).text;
    if (!text.empty()) return text.find(".py(") != std::string::npos;
  }
  return false;
}

void Importer::require_tensor(const c10::Argument& argument) {
  const c10::TypePtr& type = argument.type();
  const bool fits = c10::TensorType::get()->isSubtypeOf(*type);
  if (fits) return;
  unsupported_error(backend::no_tensor_argument(argument.name(), type->repr_str()));
}

void Importer::require_precision(const std::string& argument, std::size_t input) const {
  const DType dtype = options_.inputs[input].dtype();
  const auto has = [&](DType wanted) {
    return std::ranges::any_of(graph_.tensors,
                               [&](const auto& t) { return t.second.value.dtype() == wanted; });
  };
  if (dtype != DType::float64 || has(DType::float64) || !has(DType::float32)) return;
  const std::string origin =
      input < options_.origins.size() ? " (" + options_.origins[input] + ")" : "";
  file_error("the input for '" + argument + "'" + origin +
             " is float64, numpy's default, but the model's weights are float32; store it with "
             "numpy.save(file, x.astype(numpy.float32))");
}

bool Importer::takes_input(const std::string& argument, std::size_t used) const {
  if (used >= options_.inputs.size()) return false;
  return options_.input_names.empty() || options_.input_names.at(used) == argument;
}

std::vector<Ref> Importer::forward_arguments(const jit::Function& forward, Ref self) {
  std::vector<Ref> arguments{std::move(self)};
  const auto& schema = forward.getSchema().arguments();
  std::size_t& used = used_;
  for (std::size_t i = 1; i < schema.size(); ++i) {
    const auto fixed = options_.concrete.find(schema[i].name());
    if (fixed != options_.concrete.end()) {
      arguments.push_back(constant_cell(to_ivalue(value_of(fixed->second), schema[i].type())));
    } else if (takes_input(schema[i].name(), used)) {
      require_tensor(schema[i]);
      require_precision(schema[i].name(), used);
      arguments.push_back(builder_.placeholder(schema[i].name(), view_of(options_.inputs[used++])));
    } else if (schema[i].default_value()) {
      arguments.push_back(constant_cell(*schema[i].default_value()));
    } else {
      file_error("no example input for the model's argument '" + schema[i].name() +
                 "'; the graph's shapes come from an example (--input, --input-shape), and --fix " +
                 schema[i].name() + "=VALUE makes it a constant");
    }
  }
  for (const auto& [name, tree] : options_.concrete) {
    if (!forward.getSchema().argumentIndexWithName(name)) {
      config_error("the model has no argument '" + name + "' to fix" +
                   did_you_mean(name, argument_names(forward), ""));
    }
  }
  return arguments;
}

ir::Value Importer::value_of(const Tree& tree) {
  if (tree.is_null()) return {};
  if (tree.is_bool()) return tree.as_bool();
  if (tree.is_int()) return tree.as_int();
  if (tree.is_double()) return tree.as_double();
  if (tree.is_string()) return tree.as_string();
  if (!tree.is_list()) config_error("a concrete input must be a number, a text or a list of them");
  ir::Value::List items;
  for (const Tree& item : tree.as_list()) items.push_back(value_of(item));
  return ir::Value::list(std::move(items));
}

Ref Importer::call_function(const jit::Function& function, const std::vector<Ref>& arguments) {
  if (!function.isGraphFunction()) unsupported_error(function.name() + " is not TorchScript code");
  const auto graph = jit::toGraphFunction(function).graph();
  if (graph->inputs().size() != arguments.size()) {
    file_error("a call of " + function.name() + " has the wrong number of arguments");
  }
  if (++depth_ > import_depth_limit) unsupported_error("calls are nested too deep (recursion?)");
  Environment environment;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    environment[graph->inputs()[i]] = arguments[i];
  }
  run_block(graph->block(), environment);
  --depth_;
  return environment.at(graph->outputs().at(0));
}

void Importer::run_block(const jit::Block* block, Environment& environment) {
  for (const jit::Node* node : block->nodes()) {
    take_step(node);
    run_node(node, environment);
  }
}

void Importer::take_step(const jit::Node* node) {
  stop_if_asked();
  const std::int64_t most = options_.most_operators, most_steps = most * import_steps_per_operator;
  const auto refuse = [&](std::int64_t limit, const std::string& what) {
    unsupported_error("the model has more than " + std::to_string(limit) + " " + what +
                      " when its loops are unrolled; it is at " + places_of(node) +
                      ", where a loop may not end; --max-operators (" + std::to_string(most) +
                      ") allows more");
  };
  if (++steps_ > most_steps) refuse(most_steps, "steps");
  if (static_cast<std::int64_t>(graph_.order().size()) > most) refuse(most, "operators");
}

std::vector<Ref> Importer::inputs_of(const jit::Node* node, const Environment& environment) {
  std::vector<Ref> cells;
  for (const jit::Value* input : node->inputs()) {
    cells.push_back(environment.at(input));
    builder_.refresh(cells.back());
  }
  return cells;
}

void Importer::call_method(const jit::Node* node, Environment& environment) {
  const std::vector<Ref> arguments = inputs_of(node, environment);
  const Ref self = arguments.at(0);
  const std::string& name = node->s(jit::attr::name);
  const jit::Function* method = &method_of(self, name, node);
  Ref& result = environment[node->output()];
  if (self->kind == Cell::Kind::object) {
    result = call_function(*method, arguments);
    return;
  }
  const std::string own = class_name(self->value);
  classes_.insert(own);
  const ir::CustomOp* op = custom_op(&ir::CustomOp::class_name, own);
  if (op && may_be_leaf() && name.starts_with("forward")) {
    result = call_opaque_module(self, *method, arguments, op);
    return;
  }
  const bool leaf = may_be_leaf() && name.starts_with("forward") && is_leaf(own);
  if (leaf && (result = call_leaf(self, *method, arguments))) return;
  if (leaf && is_among(options_.leaf_modules, own)) {
    result = call_opaque_module(self, *method, arguments, nullptr);
    return;
  }
  result = call_function(*method, arguments);
}

bool Importer::is_leaf(const std::string& class_name) const {
  return ir::find_module_class(class_name) || is_among(options_.leaf_modules, class_name);
}

Ref Importer::taken_apart(const Ref& value) {
  if (value->kind != Cell::Kind::dynamic || !value->value.isTuple()) return value;
  Cell tuple;
  tuple.kind = Cell::Kind::tuple;
  tuple.type = value->value.type();
  const auto count = static_cast<std::int64_t>(value->value.toTupleRef().elements().size());
  for (std::int64_t i = 0; i < count; ++i) tuple.items.push_back(element(value, i));
  return make_cell(std::move(tuple));
}

Ref Importer::call_recurrent(const Ref& self, const jit::Function& method,
                             const std::vector<Ref>& arguments) {
  // A state that is a single value comes from outside, so it is taken apart here.
  std::vector<Ref> parts;
  for (const Ref& argument : arguments) parts.push_back(taken_apart(argument));
  // The layer checks shapes itself whenever it runs.
  const std::size_t guards = graph_.guards.size();
  open_scope();
  const Ref result = call_function(method, parts);
  std::optional<RecurrentLeaf> leaf = recurrent_leaf(self, result, builder_);
  if (!leaf || !register_module(leaf->call.module)) {
    abandon_scope();
    return nullptr;
  }
  keep_guards(guards);
  builder_.end_scope();
  const Ref cell = place_leaf(*leaf, builder_);
  return leaf->whole ? cell : unpacked(*leaf, result, cell, builder_);
}

Ref Importer::call_in_scope(bool chosen, const jit::Function& function,
                            const std::vector<Ref>& arguments) {
  const int depth = depth_;
  open_scope();
  try {
    return call_function(function, arguments);
  } catch (const Error& error) {
    if (!chosen || error.fault() == Fault::interrupted) throw;
    abandon_scope();
    depth_ = depth;
    return nullptr;
  }
}

Ref Importer::call_leaf(const Ref& self, const jit::Function& method,
                        const std::vector<Ref>& arguments) {
  const std::string own = class_name(self->value);
  if (is_recurrent(own)) return call_recurrent(self, method, arguments);
  Ref result = call_in_scope(is_among(options_.leaf_modules, own), method, arguments);
  if (!result) return nullptr;
  const auto same = std::find(arguments.begin() + 1, arguments.end(), result);
  std::optional<LeafCall> leaf;
  if (const OpCall* call = builder_.only_call(result)) {
    leaf = leaf_of(self, *call, builder_);
  } else if (same != arguments.end() && builder_.is_untouched(result)) {
    leaf = identity_leaf(self, result, builder_);
    result = make_cell(*result);
  }
  if (!leaf || !register_module(leaf->module)) {
    abandon_scope();
    return nullptr;
  }
  builder_.close_scope(std::move(leaf->node), result);
  return result;
}

bool Importer::register_module(const ir::Module& module) {
  const auto [found, added] = graph_.modules.emplace(module.path, module);
  return added || (found->second.op == module.op && found->second.attributes == module.attributes &&
                   found->second.tensors == module.tensors);
}

void Importer::call_free_function(const jit::Node* node, Environment& environment) {
  std::vector<Ref> arguments = inputs_of(node, environment);
  const auto type = node->inputs().at(0)->type()->expect<c10::FunctionType>();
  const jit::Function& function = *type->function();
  arguments.erase(arguments.begin());
  const std::string target = function_target(function.qualname().qualifiedName());
  functions_.insert(target);
  Ref& result = environment[node->output()];
  const ir::CustomOp* op = custom_op(&ir::CustomOp::function, target);
  if (may_be_leaf() && op) {
    result = call_opaque_function(target, function, arguments, op);
    return;
  }
  if (may_be_leaf() && is_leaf_function(target)) {
    result = call_leaf_function(target, function, arguments);
    if (!result && is_among(options_.leaf_functions, target))
      result = call_opaque_function(target, function, arguments, nullptr);
    if (result) return;
  }
  result = call_function(function, arguments);
}

bool Importer::is_leaf_function(const std::string& target) const {
  return target.starts_with("torch.nn.functional.") || is_among(options_.leaf_functions, target);
}

Ref Importer::call_leaf_function(const std::string& target, const jit::Function& function,
                                 const std::vector<Ref>& arguments) {
  const bool chosen = is_among(options_.leaf_functions, target);
  Ref result = call_in_scope(chosen, function, arguments);
  if (!result) return nullptr;
  const OpCall* call = builder_.only_call(result);
  if (!call) {
    abandon_scope();
    return nullptr;
  }
  ir::Node node = builder_.node_of(*call);
  node.kind = ir::NodeKind::call_function;
  node.target = target;
  builder_.close_scope(std::move(node), result);
  return result;
}

}  // namespace mase::libtorch
