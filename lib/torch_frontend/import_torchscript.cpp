// Partial evaluation of TorchScript. One of the two files that may use torch::jit: the graph that
// comes out knows nothing of it.
#include "torch_frontend/import_torchscript.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/source_range.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "base/error.hpp"
#include "checkpoint/archive.hpp"
#include "ir/op_table.hpp"
#include "torch_frontend/arguments.hpp"
#include "torch_frontend/import_builder.hpp"
#include "torch_frontend/import_index.hpp"
#include "torch_frontend/import_module.hpp"
#include "torch_frontend/operators.hpp"
#include "torch_frontend/tensors.hpp"

namespace mase::torch_frontend {
namespace {

namespace jit = torch::jit;
using Environment = std::unordered_map<const jit::Value*, Ref>;

constexpr std::int64_t step_limit = 1'000'000;
constexpr int depth_limit = 200;

std::string place_of(const jit::SourceRange& range) {
  const auto place = range.file_line_col();
  return place ? std::get<0>(*place) + ":" + std::to_string(std::get<1>(*place)) : "";
}

SourceText source_of(const jit::Node* node) {
  const jit::SourceRange range = node->sourceRange();
  if (!range.source()) return {};
  const auto original = range.source()->findSourceRangeThatGenerated(range);
  if (!original || place_of(*original).empty()) return {place_of(range), ""};
  return {place_of(*original), original->text().str()};
}

/// Both places, for errors: the Python file and the code stored in the archive.
std::string places_of(const jit::Node* node) {
  const std::string original = source_of(node).place;
  const jit::SourceRange range = node->sourceRange();
  const std::string stored = range.source() ? place_of(range) : "";
  if (original.empty() || original == stored) return stored.empty() ? "an unknown place" : stored;
  return original + (stored.empty() ? "" : " (in the archive: " + stored + ")");
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class Importer {
 public:
  Importer(ir::Graph& graph, const driver::ImportOptions& options)
      : builder_(graph), graph_(graph), options_(options) {}

  void run(const jit::Module& module) {
    Cell self;
    self.kind = Cell::Kind::module;
    self.value = module._ivalue();
    const jit::Function& forward = module.get_method("forward").function();
    traced_ = is_traced(*jit::toGraphFunction(forward).graph());
    builder_.finish(call_function(forward, forward_arguments(forward, make_cell(self))));
  }

 private:
  using Handler = void (Importer::*)(const jit::Node*, Environment&);

  // ---- inputs ----

  static bool is_traced(jit::Graph& graph) {
    for (const jit::Node* node : graph.nodes()) {
      const std::string text = source_of(node).text;
      if (!text.empty()) return text.find(".py(") != std::string::npos;
    }
    return false;
  }

  std::vector<Ref> forward_arguments(const jit::Function& forward, Ref self) {
    std::vector<Ref> arguments{std::move(self)};
    const auto& schema = forward.getSchema().arguments();
    std::size_t used = 0;
    for (std::size_t i = 1; i < schema.size(); ++i) {
      const auto fixed = options_.concrete.find(schema[i].name());
      if (fixed != options_.concrete.end()) {
        arguments.push_back(constant_cell(to_ivalue(value_of(fixed->second), schema[i].type())));
      } else if (used < options_.inputs.size()) {
        arguments.push_back(
            builder_.placeholder(schema[i].name(), view_of(options_.inputs[used++])));
      } else if (schema[i].default_value()) {
        arguments.push_back(constant_cell(*schema[i].default_value()));
      } else {
        file_error("no example input for the model's argument '" + schema[i].name() +
                   "'; the graph's shapes come from an example");
      }
    }
    if (used < options_.inputs.size()) {
      file_error("the model takes " + std::to_string(used) + " inputs, " +
                 std::to_string(options_.inputs.size()) + " examples were given");
    }
    for (const auto& [name, tree] : options_.concrete) {
      if (!forward.getSchema().argumentIndexWithName(name)) {
        config_error("the model has no argument '" + name + "' to fix");
      }
    }
    return arguments;
  }

  static ir::Value value_of(const Tree& tree) {
    if (tree.is_null()) return {};
    if (tree.is_bool()) return tree.as_bool();
    if (tree.is_int()) return tree.as_int();
    if (tree.is_double()) return tree.as_double();
    if (tree.is_string()) return tree.as_string();
    if (!tree.is_list()) config_error("concrete inputs are numbers, texts or lists of these");
    ir::Value::List items;
    for (const Tree& item : tree.as_list()) items.push_back(value_of(item));
    return ir::Value::list(std::move(items));
  }

  // ---- calls ----

  Ref call_function(const jit::Function& function, const std::vector<Ref>& arguments) {
    if (!function.isGraphFunction()) unsupported_error(function.name() + " is no TorchScript code");
    const auto graph = jit::toGraphFunction(function).graph();
    if (graph->inputs().size() != arguments.size()) {
      file_error("a call of " + function.name() + " has the wrong number of arguments");
    }
    if (++depth_ > depth_limit) unsupported_error("calls are nested too deep (recursion?)");
    Environment environment;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      environment[graph->inputs()[i]] = arguments[i];
    }
    run_block(graph->block(), environment);
    --depth_;
    return environment.at(graph->outputs().at(0));
  }

  void run_block(const jit::Block* block, Environment& environment) {
    for (const jit::Node* node : block->nodes()) {
      if (++steps_ > step_limit) {
        unsupported_error("the model runs more than a million operations when it is imported; a "
                          "loop at " + places_of(node) + " may not end");
      }
      run_node(node, environment);
    }
  }

  std::vector<Ref> inputs_of(const jit::Node* node, const Environment& environment) const {
    std::vector<Ref> cells;
    for (const jit::Value* input : node->inputs()) cells.push_back(environment.at(input));
    return cells;
  }

  void call_method(const jit::Node* node, Environment& environment) {
    const std::vector<Ref> arguments = inputs_of(node, environment);
    const Ref self = arguments.at(0);
    if (!self->value.isObject()) unsupported_error("a method of no module at " + places_of(node));
    const std::string& name = node->s(jit::attr::name);
    const jit::Function* method = self->value.toObjectRef().type()->findMethod(name);
    if (!method) unsupported_error("no method " + name + " for the call at " + places_of(node));
    Ref& result = environment[node->output()];
    const bool leaf = !builder_.in_scope() && name.starts_with("forward") && is_leaf(self->value);
    if (leaf && (result = call_leaf(self, *method, arguments))) return;
    result = call_function(*method, arguments);
  }

  bool is_leaf(const c10::IValue& module) const {
    const std::string name = class_name(module);
    const auto& own = options_.leaf_modules;
    return ir::find_module_class(name) || std::find(own.begin(), own.end(), name) != own.end();
  }

  /// The layer as one node, or null when it is not one operator.
  Ref call_leaf(const Ref& self, const jit::Function& method, const std::vector<Ref>& arguments) {
    builder_.open_scope();
    Ref result = call_function(method, arguments);
    const auto same = std::find(arguments.begin() + 1, arguments.end(), result);
    std::optional<LeafCall> leaf;
    if (const OpCall* call = builder_.only_call(result)) {
      leaf = leaf_of(self, *call, builder_);
    } else if (same != arguments.end() && builder_.is_untouched(result)) {
      leaf = identity_leaf(self, result, builder_);
      result = make_cell(*result);
    }
    if (!leaf || !register_module(leaf->module)) {
      builder_.abandon_scope();
      return nullptr;
    }
    builder_.close_scope(std::move(leaf->node), result);
    return result;
  }

  /// False when the path is known with other constants: then the layer's operators are inlined.
  bool register_module(const ir::Module& module) {
    const auto [found, added] = graph_.modules.emplace(module.path, module);
    return added || (found->second.op == module.op &&
                     found->second.attributes == module.attributes &&
                     found->second.tensors == module.tensors);
  }

  void call_free_function(const jit::Node* node, Environment& environment) {
    std::vector<Ref> arguments = inputs_of(node, environment);
    const auto type = node->inputs().at(0)->type()->expect<c10::FunctionType>();
    const jit::Function& function = *type->function();
    arguments.erase(arguments.begin());
    const std::string target = function_target(function.qualname().qualifiedName());
    Ref& result = environment[node->output()];
    if (!builder_.in_scope() && is_leaf_function(target)) {
      result = call_leaf_function(target, function, arguments);
      if (result) return;
    }
    result = call_function(function, arguments);
  }

  bool is_leaf_function(const std::string& target) const {
    const auto& own = options_.leaf_functions;
    return target.starts_with("torch.nn.functional.") ||
           std::find(own.begin(), own.end(), target) != own.end();
  }

  Ref call_leaf_function(const std::string& target, const jit::Function& function,
                         const std::vector<Ref>& arguments) {
    builder_.open_scope();
    Ref result = call_function(function, arguments);
    const OpCall* call = builder_.only_call(result);
    if (!call) {
      builder_.abandon_scope();
      return nullptr;
    }
    ir::Node node = builder_.node_of(*call);
    node.kind = ir::NodeKind::call_function;
    node.target = target;
    builder_.close_scope(std::move(node), result);
    return result;
  }

  // ---- nodes ----

  void run_node(const jit::Node* node, Environment& environment) {
    static const std::unordered_map<std::string_view, Handler> handlers{
        {"prim::Constant", &Importer::constant},
        {"prim::GetAttr", &Importer::get_attribute},
        {"prim::CallMethod", &Importer::call_method},
        {"prim::CallFunction", &Importer::call_free_function},
        {"prim::If", &Importer::branch},
        {"prim::Loop", &Importer::loop},
        {"prim::ListConstruct", &Importer::construct},
        {"prim::TupleConstruct", &Importer::construct},
        {"prim::DictConstruct", &Importer::construct_dict},
        {"prim::ListUnpack", &Importer::unpack},
        {"prim::TupleUnpack", &Importer::unpack},
        {"prim::TupleIndex", &Importer::index_container},
        {"aten::__getitem__", &Importer::index_container},
        {"aten::append", &Importer::append},
        {"aten::_set_item", &Importer::set_item},
        {"prim::RaiseException", &Importer::raise},
        {"prim::Print", &Importer::refuse},
        {"prim::SetAttr", &Importer::refuse},
        {"prim::fork", &Importer::refuse},
        {"aten::wait", &Importer::refuse},
        {"prim::CreateObject", &Importer::refuse},
        {"aten::warn", &Importer::ignore},
        {"prim::unchecked_cast", &Importer::alias},
        {"prim::NumToTensor", &Importer::alias},
        {"aten::ScalarImplicit", &Importer::alias_of_size},
        {"aten::IntImplicit", &Importer::alias_of_size},
        {"aten::Int", &Importer::alias_of_size},
        {"aten::_unwrap_optional", &Importer::alias},
        {"prim::unchecked_unwrap_optional", &Importer::alias},
        {"aten::__is__", &Importer::compare_none},
        {"aten::__isnot__", &Importer::compare_none},
        {"aten::len", &Importer::length},
        {"aten::format", &Importer::format},
        {"aten::dim", &Importer::example_constant},
        {"prim::dtype", &Importer::example_constant},
        {"prim::device", &Importer::example_constant},
        {"prim::layout", &Importer::example_constant},
        {"prim::is_cuda", &Importer::example_constant},
        {"prim::requires_grad", &Importer::example_constant},
        {"prim::is_nested", &Importer::example_constant},
        {"aten::is_floating_point", &Importer::example_constant},
        {"aten::is_complex", &Importer::example_constant},
        {"prim::isinstance", &Importer::example_constant},
        {"aten::slice", &Importer::index_tensor},
        {"aten::select", &Importer::index_tensor},
        {"aten::unsqueeze", &Importer::index_tensor},
        {"aten::index", &Importer::index_tensor},
    };
    const auto handler = handlers.find(node->kind().toQualString());
    if (handler != handlers.end()) {
      (this->*handler->second)(node, environment);
    } else {
      apply_operator(node, environment);
    }
  }

  void constant(const jit::Node* node, Environment& environment) {
    const jit::Value* output = node->output();
    if (output->type()->kind() == c10::TypeKind::FunctionType) {
      Cell cell;
      cell.kind = Cell::Kind::function;
      cell.type = output->type();
      environment[output] = make_cell(std::move(cell));
      return;
    }
    const auto value = jit::toIValue(output);
    environment[output] = constant_cell(value ? *value : c10::IValue());
  }

  void get_attribute(const jit::Node* node, Environment& environment) {
    const Ref self = environment.at(node->input());
    if (!self->value.isObject()) unsupported_error("an attribute of no module at " + places_of(node));
    const std::string& name = node->s(jit::attr::name);
    const c10::IValue value = self->value.toObjectRef().getAttr(name);
    const std::string path = self->path.empty() ? name : self->path + "." + name;
    Ref& result = environment[node->output()];
    if (name == "training") {
      result = constant_cell(false, true);
    } else if (value.isTensor() && value.toTensor().defined()) {
      result = attribute(path, value);
    } else if (value.isObject()) {
      Cell cell;
      cell.kind = Cell::Kind::module;
      cell.value = value;
      cell.path = path;
      result = make_cell(std::move(cell));
    } else {
      result = constant_cell(value);
    }
  }

  /// A tensor of a module. Scripts name it where Python does; traces name all of them at the top.
  Ref attribute(const std::string& path, const c10::IValue& value) {
    Ref& cell = attributes_[path];
    if (!cell) {
      Cell fresh;
      fresh.kind = Cell::Kind::attribute;
      fresh.path = path;
      fresh.value = value;
      cell = make_cell(std::move(fresh));
      if (!graph_.tensors.contains(path)) {
        graph_.set_tensor(path, {to_array(value.toTensor(), path), false, false});
      }
    }
    if (!traced_) builder_.touch_attribute(cell);
    return cell;
  }

  // ---- control flow ----

  bool decide(const Ref& condition, const jit::Node* node) {
    const bool value = condition->value.isTensor() ? condition->value.toTensor().item().toBool()
                                                   : condition->value.toBool();
    if (is_static(*condition)) return value;
    if (condition->from_data || is_tensor(*condition)) {
      unsupported_error("data-dependent control flow at " + places_of(node) +
                        ": the condition is computed from tensor values, so there is no one graph; "
                        "compute both ways and choose with torch.where, or split the model");
    }
    ir::Guard guard{source_of(node).place, condition->text + (value ? " is true" : " is false")};
    if (guard.place.empty()) guard.place = places_of(node);
    const auto known = std::find(graph_.guards.begin(), graph_.guards.end(), guard);
    if (known == graph_.guards.end()) graph_.guards.push_back(std::move(guard));
    return value;
  }

  void branch(const jit::Node* node, Environment& environment) {
    const Ref condition = environment.at(node->input());
    const jit::Block* block = node->blocks().at(decide(condition, node) ? 0 : 1);
    run_block(block, environment);
    for (std::size_t i = 0; i < node->outputs().size(); ++i) {
      Ref result = environment.at(block->outputs()[i]);
      if (is_tainted(*condition) && result->kind == Cell::Kind::constant) {
        result = constant_cell(result->value, true);
      }
      environment[node->outputs()[i]] = result;
    }
  }

  void loop(const jit::Node* node, Environment& environment) {
    const Ref trips = environment.at(node->inputs().at(0));
    if (!is_static(*trips)) guard_trips(trips, node);
    const std::int64_t limit = trips->value.toInt();
    const jit::Block* body = node->blocks().at(0);
    std::vector<Ref> carried;
    for (std::size_t i = 2; i < node->inputs().size(); ++i) {
      carried.push_back(environment.at(node->inputs()[i]));
    }
    Ref condition = environment.at(node->inputs().at(1));
    for (std::int64_t trip = 0; trip < limit && decide(condition, node); ++trip) {
      if (++steps_ > step_limit) unsupported_error("the loop at " + places_of(node) + " does not end");
      environment[body->inputs()[0]] = constant_cell(trip);
      for (std::size_t i = 0; i < carried.size(); ++i) {
        environment[body->inputs()[i + 1]] = carried[i];
      }
      run_block(body, environment);
      condition = environment.at(body->outputs()[0]);
      for (std::size_t i = 0; i < carried.size(); ++i) {
        carried[i] = environment.at(body->outputs()[i + 1]);
      }
    }
    for (std::size_t i = 0; i < carried.size(); ++i) environment[node->outputs()[i]] = carried[i];
  }

  void guard_trips(const Ref& trips, const jit::Node* node) {
    if (trips->from_data || is_tensor(*trips)) {
      unsupported_error("data-dependent control flow at " + places_of(node) +
                        ": the number of rounds is computed from tensor values");
    }
    graph_.guards.push_back({places_of(node), trips->text + " rounds: " +
                                                  std::to_string(trips->value.toInt())});
  }

  void raise(const jit::Node* node, Environment& environment) {
    const Ref message = environment.at(node->inputs().at(0));
    const std::string text = message->value.isString() ? message->value.toStringRef() : "";
    file_error("the model refuses the example input at " + places_of(node) + ": " + text);
  }

  void refuse(const jit::Node* node, Environment&) {
    unsupported_error(std::string(node->kind().toQualString()) + " at " + places_of(node) +
                      " is not supported: a graph has no state, threads or output");
  }

  void ignore(const jit::Node* node, Environment& environment) {
    for (const jit::Value* output : node->outputs()) environment[output] = constant_cell({});
  }

  // ---- containers ----

  void construct(const jit::Node* node, Environment& environment) {
    Cell cell;
    cell.kind = node->kind() == c10::prim::ListConstruct ? Cell::Kind::list : Cell::Kind::tuple;
    cell.type = node->output()->type();
    cell.items = inputs_of(node, environment);
    environment[node->output()] = make_cell(std::move(cell));
  }

  void construct_dict(const jit::Node* node, Environment& environment) {
    Cell cell;
    cell.kind = Cell::Kind::dict;
    const std::vector<Ref> inputs = inputs_of(node, environment);
    for (std::size_t i = 0; i + 1 < inputs.size(); i += 2) {
      if (!is_static(*inputs[i])) unsupported_error("a dict key is computed at " + places_of(node));
      cell.keys.push_back(inputs[i]->value);
      cell.items.push_back(inputs[i + 1]);
    }
    environment[node->output()] = make_cell(std::move(cell));
  }

  /// Element `position` of a container known so far.
  Ref element(const Ref& container, std::int64_t position) {
    if (is_container(*container)) {
      const auto size = static_cast<std::int64_t>(container->items.size());
      if (position < 0) position += size;
      if (position < 0 || position >= size) file_error("an index is out of range");
      return container->items[static_cast<std::size_t>(position)];
    }
    const c10::IValue item =
        torch_frontend::get_item(container->value, ir::Value(position), {});
    if (is_static(*container)) return constant_cell(item, container->tainted);
    return builder_.get_item(container, position, item);
  }

  void unpack(const jit::Node* node, Environment& environment) {
    const Ref container = environment.at(node->input());
    for (std::size_t i = 0; i < node->outputs().size(); ++i) {
      environment[node->outputs()[i]] = element(container, static_cast<std::int64_t>(i));
    }
  }

  void index_container(const jit::Node* node, Environment& environment) {
    const Ref container = environment.at(node->inputs().at(0));
    const Ref index = environment.at(node->inputs().at(1));
    if (!is_static(*index)) unsupported_error("a computed index at " + places_of(node));
    Ref& result = environment[node->output()];
    if (container->kind == Cell::Kind::dict) {
      for (std::size_t i = 0; i < container->keys.size(); ++i) {
        if (container->keys[i] == index->value) result = container->items[i];
      }
      if (!result) file_error("a dict has no such key at " + places_of(node));
    } else if (container->value.isGenericDict()) {
      result = constant_cell(torch_frontend::get_item(container->value, to_value(index->value), {}));
    } else {
      result = element(container, index->value.toInt());
    }
  }

  static void open_list(const Ref& list) {
    if (list->kind != Cell::Kind::constant || !list->value.isList()) return;
    for (const c10::IValue& item : list->value.toListRef()) list->items.push_back(constant_cell(item));
    list->type = list->value.type();
    list->kind = Cell::Kind::list;
  }

  void append(const jit::Node* node, Environment& environment) {
    const Ref list = environment.at(node->inputs().at(0));
    open_list(list);
    if (list->kind != Cell::Kind::list) unsupported_error("append at " + places_of(node));
    list->items.push_back(environment.at(node->inputs().at(1)));
    if (!node->outputs().empty()) environment[node->output()] = list;
  }

  void set_item(const jit::Node* node, Environment& environment) {
    const Ref container = environment.at(node->inputs().at(0));
    const Ref key = environment.at(node->inputs().at(1));
    const Ref item = environment.at(node->inputs().at(2));
    open_list(container);
    if (!is_static(*key)) unsupported_error("a computed key at " + places_of(node));
    if (container->kind == Cell::Kind::list) {
      *element(container, key->value.toInt()) = *item;
    } else if (container->kind == Cell::Kind::dict) {
      container->keys.push_back(key->value);
      container->items.push_back(item);
    } else {
      unsupported_error("an assignment to an element at " + places_of(node));
    }
  }

  void length(const jit::Node* node, Environment& environment) {
    const Ref cell = environment.at(node->input());
    if (is_container(*cell)) {
      environment[node->output()] = constant_cell(static_cast<std::int64_t>(cell->items.size()));
    } else if (cell->value.isTensor() && !is_static(*cell)) {
      apply_operator(node, environment);
    } else {
      example_constant(node, environment);
    }
  }

  // ---- aliases and constants of the example ----

  void alias(const jit::Node* node, Environment& environment) {
    Ref cell = environment.at(node->inputs().at(0));
    if (node->kind() == c10::prim::NumToTensor) {
      if (is_static(*cell)) {
        fold(node, environment, inputs_of(node, environment));
        return;
      }
      cell = make_cell(*cell);
      cell->size_tensor = true;
    }
    environment[node->output()] = cell;
  }

  void alias_of_size(const jit::Node* node, Environment& environment) {
    Ref cell = environment.at(node->inputs().at(0));
    if (!cell->size_tensor) return apply_operator(node, environment);
    cell = make_cell(*cell);
    cell->size_tensor = false;
    environment[node->output()] = cell;
  }

  void compare_none(const jit::Node* node, Environment& environment) {
    const auto is_none = [&](std::size_t i) {
      const Cell& cell = *environment.at(node->inputs().at(i));
      return cell.kind == Cell::Kind::constant && cell.value.isNone();
    };
    const Cell& left = *environment.at(node->inputs().at(0));
    const Cell& right = *environment.at(node->inputs().at(1));
    const bool same = is_none(0) && is_none(1);
    const bool negate = node->kind() == c10::aten::__isnot__;
    environment[node->output()] =
        constant_cell(same != negate, is_tainted(left) || is_tainted(right));
  }

  /// Text of messages: what it says does not matter to the graph.
  void format(const jit::Node* node, Environment& environment) {
    const std::vector<Ref> inputs = inputs_of(node, environment);
    const bool known = std::all_of(inputs.begin(), inputs.end(),
                                   [](const Ref& cell) { return is_static(*cell); });
    environment[node->output()] = known ? constant_cell(run_jit(node, inputs)) : inputs.at(0);
  }

  /// Ranks, dtypes and devices are taken from the example and hold for every accepted input.
  void example_constant(const jit::Node* node, Environment& environment) {
    environment[node->output()] = constant_cell(run_jit(node, inputs_of(node, environment)));
  }

  // ---- operators ----

  c10::IValue run_jit(const jit::Node* node, const std::vector<Ref>& inputs) const {
    jit::Stack stack;
    const c10::FunctionSchema* schema = node->maybeSchema();
    if (!schema) {
      unsupported_error(std::string(node->kind().toQualString()) + " at " + places_of(node) +
                        " is not supported");
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool typed = i < schema->arguments().size();
      stack.push_back(concrete(*inputs[i], typed ? schema->arguments()[i].type() : nullptr));
      if (inputs[i]->size_tensor) stack.back() = at::scalar_tensor(stack.back().toScalar(), at::kLong);
    }
    if (schema->is_vararg()) stack.push_back(static_cast<std::int64_t>(inputs.size()));
    try {
      node->getOperation()(stack);
    } catch (const std::exception& error) {
      file_error(std::string(node->kind().toQualString()) + " at " + places_of(node) + " fails: " +
                 first_line(error.what()));
    }
    if (stack.empty()) return {};
    return stack.size() == 1 ? stack[0] : c10::ivalue::Tuple::create(std::move(stack));
  }

  static bool may_fold(const jit::Node* node) {
    static const std::set<std::string_view> prims{
        "prim::min", "prim::max", "prim::abs", "prim::NumToTensor", "prim::data", "prim::shape",
        "prim::itemsize", "prim::AutogradAnyNonZero", "prim::TupleSlice", "prim::Uninitialized"};
    const std::string_view name = node->kind().toQualString();
    return name.starts_with("aten::") || prims.contains(name);
  }

  void fold(const jit::Node* node, Environment& environment, const std::vector<Ref>& inputs) {
    const std::string name = node->kind().toQualString();
    const bool impure = name.starts_with("aten::") && is_impure(out_of_place(name));
    if (!may_fold(node) || impure) {
      unsupported_error(name + " at " + places_of(node) +
                        " is not supported: its result is no fixed function of the input");
    }
    const bool tainted =
        std::any_of(inputs.begin(), inputs.end(), [](const Ref& c) { return is_tainted(*c); });
    store_outputs(node, environment, constant_cell(run_jit(node, inputs), tainted));
  }

  void store_outputs(const jit::Node* node, Environment& environment, const Ref& result) {
    if (node->outputs().size() == 1) {
      environment[node->output()] = result;
      return;
    }
    for (std::size_t i = 0; i < node->outputs().size(); ++i) {
      if (!node->outputs()[i]->uses().empty()) {
        environment[node->outputs()[i]] = element(result, static_cast<std::int64_t>(i));
      }
    }
  }

  void apply_operator(const jit::Node* node, Environment& environment) {
    const std::vector<Ref> inputs = inputs_of(node, environment);
    const auto any = [&](auto test) { return std::any_of(inputs.begin(), inputs.end(), test); };
    if (!any([](const Ref& cell) { return !is_static(*cell); })) {
      fold(node, environment, inputs);
    } else if (is_host_condition(node, inputs) || any([](const Ref& c) { return c->from_data; })) {
      environment[node->output()] = host_value(node, inputs);
    } else if (reads_tensor(node, inputs)) {
      Ref cell = host_value(node, inputs);
      cell->from_data = true;
      environment[node->output()] = cell;
    } else {
      store_outputs(node, environment, builder_.emit(call_of(node, inputs)));
    }
  }

  /// A truth value computed from sizes: no node, only a condition.
  static bool is_host_condition(const jit::Node* node, const std::vector<Ref>& inputs) {
    if (node->outputs().size() != 1) return false;
    if (node->output()->type()->kind() != c10::TypeKind::BoolType) return false;
    return std::none_of(inputs.begin(), inputs.end(), [](const Ref& cell) {
      return is_tensor(*cell);
    });
  }

  /// A number read out of a tensor (not a size).
  static bool reads_tensor(const jit::Node* node, const std::vector<Ref>& inputs) {
    if (node->outputs().size() != 1 || find_host_operator(operator_name(node))) return false;
    const auto kind = node->output()->type()->kind();
    const bool host = kind == c10::TypeKind::IntType || kind == c10::TypeKind::FloatType ||
                      kind == c10::TypeKind::BoolType || kind == c10::TypeKind::NumberType;
    return host && std::any_of(inputs.begin(), inputs.end(), [](const Ref& cell) {
             return is_tensor(*cell);
           });
  }

  Ref host_value(const jit::Node* node, const std::vector<Ref>& inputs) const {
    Cell cell;
    cell.kind = Cell::Kind::dynamic;
    cell.value = run_jit(node, inputs);
    cell.from_data =
        std::any_of(inputs.begin(), inputs.end(), [](const Ref& c) { return c->from_data; });
    cell.text = std::string(node->kind().toUnqualString()) + "(";
    for (const Ref& input : inputs) {
      cell.text += (cell.text.ends_with("(") ? "" : ", ") + builder_.operand_text(*input);
    }
    cell.text += ")";
    return make_cell(std::move(cell));
  }

  static std::string operator_name(const jit::Node* node) {
    const c10::FunctionSchema* schema = node->maybeSchema();
    if (!schema) return node->kind().toQualString();
    return schema->overload_name().empty() ? schema->name()
                                           : schema->name() + "." + schema->overload_name();
  }

  OpCall call_of(const jit::Node* node, const std::vector<Ref>& inputs) const {
    const c10::FunctionSchema* schema = node->maybeSchema();
    if (!schema || schema->is_vararg()) refuse_operator(node);
    OpCall call{operator_name(node), {}, {}, source_of(node)};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const c10::Argument& argument = schema->arguments().at(i);
      call.args.emplace_back(argument.name(), inputs[i]);
      call.is_default.push_back(equals_default(argument, *inputs[i]));
    }
    return call;
  }

  [[noreturn]] static void refuse_operator(const jit::Node* node) {
    unsupported_error(std::string(node->kind().toQualString()) + " at " + places_of(node) +
                      " is not supported");
  }

  static bool equals_default(const c10::Argument& argument, const Cell& cell) {
    if (!argument.default_value() || !is_static(cell) || is_tainted(cell)) return false;
    const c10::IValue value = concrete(cell, argument.type());
    if (value.isTensor() || argument.default_value()->isTensor()) return false;
    return to_value(value) == to_value(*argument.default_value());
  }

  // ---- Python indexing ----

  /// Slices, selections and new axes of one subscript are one getitem: they wait in `pending_` until
  /// the next operator does not go on with the same subscript.
  void index_tensor(const jit::Node* node, Environment& environment) {
    const std::vector<Ref> inputs = inputs_of(node, environment);
    const jit::Value* base = node->inputs().at(0);
    const auto waiting = pending_.find(base);
    std::optional<Subscript> subscript;
    if (!builder_.in_scope() && !is_static(*inputs[0]) && !inputs[0]->size_tensor) {
      Subscript start{inputs[0], {}, 0, source_of(node).place};
      if (waiting != pending_.end()) start = waiting->second;
      subscript = extended(start, node->kind().toUnqualString(), inputs, builder_);
    }
    if (waiting != pending_.end()) {
      pending_.erase(waiting);
      MASE_CHECK(subscript, "a subscript that waits can be extended");
    }
    if (!subscript) return apply_operator(node, environment);
    const c10::IValue value = run_jit(node, inputs);
    if (continues(node, *subscript)) {
      Cell cell = *inputs[0];
      cell.value = value;
      environment[node->output()] = make_cell(std::move(cell));
      pending_.emplace(node->output(), std::move(*subscript));
    } else {
      environment[node->output()] =
          builder_.get_item(subscript->base, index_value(*subscript), value);
    }
  }

  /// Whether the only use of the result goes on with the same subscript.
  static bool continues(const jit::Node* node, const Subscript& subscript) {
    const auto& uses = node->output()->uses();
    if (uses.size() != 1 || uses[0].offset != 0) return false;
    const jit::Node* user = uses[0].user;
    const std::string_view kind = user->kind().toQualString();
    if (kind != "aten::slice" && kind != "aten::select" && kind != "aten::unsqueeze") return false;
    if (user->owningBlock() != node->owningBlock()) return false;
    const auto dim = jit::constant_as<std::int64_t>(user->inputs().at(1));
    return dim && *dim == subscript.next_dim && source_of(user).place == subscript.place;
  }

  Builder builder_;
  ir::Graph& graph_;
  const driver::ImportOptions& options_;
  std::map<std::string, Ref> attributes_;
  std::unordered_map<const jit::Value*, Subscript> pending_;
  bool traced_ = false;
  std::int64_t steps_ = 0;
  int depth_ = 0;
};

// ---- files ----

jit::Module load_module(const std::string& path) {
  checkpoint::check_archive(path);
  try {
    return jit::load(path, c10::Device(c10::kCPU));
  } catch (const std::exception& error) {
    const std::string reason = first_line(error.what());
    const bool newer = std::string(error.what()).find("Unknown builtin op") != std::string::npos;
    file_error(path + ": cannot be loaded as TorchScript: " + reason +
               (newer ? " (the file needs a newer LibTorch)" : ""));
  }
}

void require_forward(const jit::Module& module, const std::string& path) {
  if (!module.find_method("forward")) file_error(path + ": the model has no forward method");
}

/// Tensors in state_dict order: a module's parameters, its buffers, then its children's.
void collect_tensors(const jit::Module& module, const std::string& prefix, ir::Graph& graph) {
  const auto type = module.type();
  for (const bool parameters : {true, false}) {
    for (std::size_t i = 0; i < type->numAttributes(); ++i) {
      const bool wanted = parameters ? type->is_parameter(i) : type->is_buffer(i);
      const c10::IValue value = module._ivalue()->getSlot(i);
      if (!wanted || !value.isTensor() || !value.toTensor().defined()) continue;
      const std::string path = prefix + type->getAttributeName(i);
      const at::Tensor& tensor = value.toTensor();
      graph.set_tensor(path, {to_array(tensor, path), parameters, tensor.requires_grad()});
    }
  }
  for (const auto& child : module.named_children()) {
    collect_tensors(child.value, prefix + child.name + ".", graph);
  }
}

void collect_containers(const jit::Module& module, const std::string& path, ir::Graph& graph) {
  for (const auto& child : module.named_children()) {
    const std::string name = path.empty() ? child.name : path + "." + child.name;
    if (!graph.modules.contains(name)) graph.containers[name] = class_name(child.value._ivalue());
    collect_containers(child.value, name, graph);
  }
}

/// Files made for inference often have no tensor that requires gradients: then all parameters may
/// be trained.
void allow_training(ir::Graph& graph) {
  for (const auto& [path, tensor] : graph.tensors) {
    if (tensor.requires_grad) return;
  }
  for (auto& [path, tensor] : graph.tensors) {
    tensor.requires_grad = tensor.is_parameter && tensor.value.dtype() == DType::float32;
  }
}

}  // namespace

ir::Graph import_torchscript(const std::string& path, const driver::ImportOptions& options) {
  const jit::Module module = load_module(path);
  require_forward(module, path);
  ir::Graph graph;
  const std::string top = class_name(module._ivalue());
  graph.name = top.empty() ? std::filesystem::path(path).stem().string()
                           : top.substr(top.rfind('.') + 1);
  try {
    at::NoGradGuard guard;
    collect_tensors(module, "", graph);
    Importer(graph, options).run(module);
  } catch (const Error& error) {
    throw Error(error.fault(), path + ": " + error.what());
  } catch (const std::exception& error) {
    file_error(path + ": the program in the file is not valid: " + first_line(error.what()));
  }
  graph.remove_dead_nodes();
  collect_containers(module, "", graph);
  allow_training(graph);
  return graph;
}

driver::Signature read_signature(const std::string& path) {
  const jit::Module module = load_module(path);
  require_forward(module, path);
  driver::Signature signature;
  const auto& arguments = module.get_method("forward").function().getSchema().arguments();
  for (std::size_t i = 1; i < arguments.size(); ++i) signature.inputs.push_back(arguments[i].name());
  return signature;
}

}  // namespace mase::torch_frontend
