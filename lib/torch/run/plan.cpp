// SPDX-License-Identifier: Apache-2.0
// Compiles a graph to steps: looks up operators, puts arguments into schema order with the defaults
// of the schema, converts constants once, and marks last uses.
#include "torch/run/plan.hpp"

#include <set>

#include "base/error.hpp"
#include "ir/leaf_bodies.hpp"
#include "ir/masks.hpp"
#include "ir/op_table.hpp"
#include "torch/run/arguments.hpp"
#include "torch/run/device.hpp"
#include "torch/run/enumerations.hpp"
#include "torch/run/fold_batch_norm.hpp"
#include "torch/run/in_place.hpp"
#include "torch/run/normalise.hpp"
#include "torch/run/operator_demands.hpp"
#include "torch/run/placement.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {

void PortFormat::set(const ir::Node& node, const std::string& name, const formats::Format& by) {
  format = &by;
  port = name;
  place = place_number(node.name, name);
}

class PlanBuilder {
 public:
  explicit PlanBuilder(Executor::Plan& plan)
      : plan_(plan), graph_(plan.graph), masks_(plan.graph) {}

  void build() {
    for (const auto& [path, tensor] : graph_.tensors) {
      plan_.tensors.emplace(path, stored(path, tensor.value));
    }
    refuse_unsupported();
    ir::NodeId most = 0;
    for (const ir::NodeId id : graph_.order()) {
      plan_.steps.push_back(named_step(graph_.node(id)));
      most = std::max(most, id + 1);
    }
    plan_.slots_.resize(static_cast<std::size_t>(most));
    mark_last_uses();
    link_norms(plan_.steps);
  }

 private:
  at::Tensor stored(const std::string& path, const Array& value) const {
    try {
      return view_of(value).to(plan_.device);
    } catch (const c10::Error& error) {
      file_error("tensor '" + path + "': " + device_error(error, plan_.device, "a copy"));
    }
  }

  void refuse_unsupported() const {
    std::string problems;
    for (const ir::NodeId id : graph_.order()) {
      const ir::Node& node = graph_.node(id);
      if (node.op.empty()) continue;
      const std::string reason = refusal(node.op);
      if (!reason.empty()) problems += "\n  node '" + node.name + "': " + node.op + ": " + reason;
    }
    if (!problems.empty()) unsupported_error("operators that cannot be run:" + problems);
  }

  PlanStep named_step(const ir::Node& node) {
    try {
      return step_of(node);
    } catch (const Error& error) {
      throw Error(error.fault(), "node '" + node.name + "' (" + node.op + "): " + error.what());
    } catch (const c10::Error& error) {
      file_error("node '" + node.name + "' (" + node.op + "): " + error.what_without_backtrace());
    }
  }

  PlanStep step_of(const ir::Node& node) {
    PlanStep step;
    step.node = &node;
    const auto rounds = plan_.leaf_ports.find(node.id);
    step.shown = rounds == plan_.leaf_ports.end() ? &node : &plan_.leaves.at(rounds->second.leaf);
    step.kind = kind_of(node);
    switch (step.kind) {
      case PlanStep::Kind::tensor:
        step.arguments.push_back(tensor_recipe(node.target));
        break;
      case PlanStep::Kind::output:
      case PlanStep::Kind::identity:
        step.arguments.push_back(recipe_of(first_argument(node)));
        break;
      case PlanStep::Kind::get_item:
        step.arguments.push_back(recipe_of(first_argument(node)));
        break;
      case PlanStep::Kind::host:
        host_arguments(step);
        break;
      case PlanStep::Kind::recurrent:
        recurrent_recipes(step);
        break;
      case PlanStep::Kind::aten:
        aten_arguments(step);
        break;
      case PlanStep::Kind::input:
        break;
    }
    set_formats(step);
    return step;
  }

  static PlanStep::Kind kind_of(const ir::Node& node) {
    if (node.kind == ir::NodeKind::placeholder) return PlanStep::Kind::input;
    if (node.kind == ir::NodeKind::output) return PlanStep::Kind::output;
    if (node.kind == ir::NodeKind::get_attr) return PlanStep::Kind::tensor;
    if (node.op == "mase::identity") return PlanStep::Kind::identity;
    if (node.op == "mase::getitem") return PlanStep::Kind::get_item;
    if (find_recurrent(node.op)) return PlanStep::Kind::recurrent;
    return find_host_operator(node.op) ? PlanStep::Kind::host : PlanStep::Kind::aten;
  }

  static const ir::Value& first_argument(const ir::Node& node) {
    const std::size_t wanted = node.op == "mase::getitem" ? 2 : 1;
    if (node.args.size() != wanted) {
      file_error("expected " + std::to_string(wanted) + " arguments, found " +
                 std::to_string(node.args.size()));
    }
    return node.args[0].value;
  }

  void host_arguments(PlanStep& step) {
    step.host = find_host_operator(step.node->op);
    for (const std::string_view name : step.host->arguments) {
      const ir::Value* value = step.node->find(name);
      if (!value) file_error("argument '" + std::string(name) + "' is missing");
      step.arguments.push_back(recipe_of(*value));
    }
  }

  /// Makes a recipe for each of `recurrent_arguments`; lists if there are levels.
  void recurrent_recipes(PlanStep& step) {
    const ir::Node& node = *step.node;
    step.recurrent = find_recurrent(node.op);
    if (node.kind != ir::NodeKind::call_module) file_error("it is a layer, called as a function");
    const ir::Module& module = graph_.module_of(node);
    for (const std::string_view name : recurrent_arguments) {
      const ir::Value* value = node.find(name);
      step.arguments.push_back(value ? recipe_of(*value) : tensor_list(module, name));
    }
    if (step.recurrent->cell && node.find("batch_sizes"))
      file_error("it is a single step and takes no packed sequences");
    read_constants(step, module);
    check_recurrent(step);
  }

  static void read_constants(PlanStep& step, const ir::Module& module) {
    const auto find = [&](const char* name, ir::Value::Kind kind) {
      const ir::Value* value = module.attribute(name);
      return value && value->kind() == kind ? value : nullptr;
    };
    const auto truth = [&](const char* name) {
      const ir::Value* value = find(name, ir::Value::Kind::boolean);
      return value && value->as_bool();
    };
    RecurrentConstants& constants = step.constants;
    if (const auto* levels = find("num_layers", ir::Value::Kind::integer))
      constants.num_layers = levels->as_int();
    if (const auto* dropout = find("dropout", ir::Value::Kind::number))
      constants.dropout = dropout->as_double();
    constants.train = truth("train");
    constants.bidirectional = truth("bidirectional");
    constants.batch_first = truth("batch_first");
    step.trains_with_graph = find("train", ir::Value::Kind::training) != nullptr;
  }

  /// Checks that the tensors of all levels and directions exist.
  static void check_recurrent(const PlanStep& step) {
    if (!step.node->find("input")) file_error("argument 'input' is missing");
    const std::int64_t places = step.constants.num_layers;
    const bool two = step.constants.bidirectional;
    for (std::size_t i = 2; i < recurrent_arguments.size(); ++i) {
      if (recurrent_arguments[i] == "batch_sizes") continue;
      const auto count = static_cast<std::int64_t>(step.arguments[i].items.size());
      const bool optional = i > 3;
      if (places > 0 && count % (two ? 2 : 1) == 0 && count / (two ? 2 : 1) == places) continue;
      if (optional && count == 0) continue;
      file_error("the layer has " + std::to_string(places) +
                 (two ? " levels of two directions, but " : " levels, but ") +
                 std::to_string(count) + " tensors for " + std::string(recurrent_arguments[i]));
    }
  }

  Recipe tensor_list(const ir::Module& module, std::string_view argument) {
    Recipe list;
    list.kind = Recipe::Kind::list;
    list.type = c10::ListType::ofTensors();
    for (const auto& [name, path] : module.tensors)
      if (name == argument) list.items.push_back(tensor_recipe(path));
    return list;
  }

  void aten_arguments(PlanStep& step) {
    const ir::Node& node = *step.node;
    step.aten = find_operator(node.op);
    const c10::FunctionSchema& schema = step.aten->schema();
    check_argument_names(node, schema);
    step.in_place = in_place_twin(graph_, node, schema);
    step.is_batch_norm = node.op == "aten::batch_norm";
    step.draw_by_row = find_draw_by_row(node.op);
    step.has_demands = has_tensor_demands(node.op);
    for (const c10::Argument& argument : schema.arguments()) {
      step.arguments.push_back(argument_recipe(node, argument));
      check_enumeration(argument, step.arguments.back());
    }
    if (!plan_.device.is_cpu()) place_on(plan_.device, step);
    if (node.kind != ir::NodeKind::call_module) return;
    const std::string* counter = graph_.tensor_named(node.target + ".num_batches_tracked");
    if (!counter || has_fixed_statistics(graph_, node)) return;
    const at::Tensor& batches = plan_.tensors.at(*counter);
    if (batches.scalar_type() == at::kLong && batches.numel() == 1) step.batches = &batches;
  }

  static void check_enumeration(const c10::Argument& argument, const Recipe& recipe) {
    const bool known = recipe.kind == Recipe::Kind::constant;
    if (!known && is_enumeration(argument))
      file_error("argument '" + argument.name() + "' is computed; it must be a constant");
    const std::string unmet = known ? enumeration_demand(argument, recipe.constant) : "";
    if (!unmet.empty()) file_error("the operator " + unmet);
  }

  static void check_argument_names(const ir::Node& node, const c10::FunctionSchema& schema) {
    for (const ir::Argument& argument : node.args) {
      if (!schema.argumentIndexWithName(argument.name)) {
        file_error("the operator has no argument '" + argument.name + "'");
      }
    }
  }

  Recipe argument_recipe(const ir::Node& node, const c10::Argument& argument) {
    if (const ir::Value* value = node.find(argument.name())) return typed(*value, argument);
    if (node.kind == ir::NodeKind::call_module) {
      const ir::Module& module = graph_.module_of(node);
      if (const std::string* path = module.tensor(argument.name())) return tensor_recipe(*path);
      if (const ir::Value* value = module.attribute(argument.name())) {
        if (value->is_none() && argument.name() == "momentum") return average_recipe(module);
        return typed(*value, argument);
      }
    }
    Recipe recipe;
    if (argument.default_value()) {
      recipe.constant = *argument.default_value();
    } else if (argument.type()->kind() != c10::TypeKind::OptionalType) {
      file_error("argument '" + argument.name() + "' is missing");
    }
    return recipe;
  }

  /// For a batch norm without momentum, whose running statistics are the mean over all batches.
  Recipe average_recipe(const ir::Module& module) {
    const std::string name = module.path + ".num_batches_tracked";
    const std::string* counter = graph_.tensor_named(name);
    Recipe recipe = tensor_recipe(counter ? *counter : name);
    recipe.kind = Recipe::Kind::average;
    return recipe;
  }

  Recipe typed(const ir::Value& value, const c10::Argument& argument) {
    const int count = argument.N() ? static_cast<int>(*argument.N()) : 0;
    try {
      return recipe_of(value, argument.type(), count);
    } catch (const Error& error) {
      throw Error(error.fault(), "argument '" + argument.name() + "': " + error.what());
    }
  }

  Recipe tensor_recipe(const std::string& path) {
    const auto found = plan_.tensors.find(path);
    if (found == plan_.tensors.end()) file_error("the graph has no tensor '" + path + "'");
    Recipe recipe;
    recipe.kind = Recipe::Kind::tensor;
    recipe.tensor = &found->second;
    return recipe;
  }

  static bool refers_to_node(const ir::Value& value) {
    if (value.kind() == ir::Value::Kind::training) return true;
    bool found = false;
    value.for_each_node([&](ir::NodeId) { found = true; });
    return found;
  }

  Recipe recipe_of(const ir::Value& value, const c10::TypePtr& type = nullptr, int count = 0) {
    Recipe recipe;
    if (value.is_node()) {
      recipe.kind = Recipe::Kind::slot;
      recipe.slot = value.node();
    } else if (value.kind() == ir::Value::Kind::training) {
      recipe.kind = Recipe::Kind::training;
    } else if (refers_to_node(value)) {
      container_recipe(value, type, recipe);
    } else if (value.kind() == ir::Value::Kind::dict) {
      container_recipe(value, type, recipe);
    } else {
      recipe.constant = type ? to_ivalue(value, type, count) : to_ivalue(value);
    }
    return recipe;
  }

  void container_recipe(const ir::Value& value, const c10::TypePtr& type, Recipe& recipe) {
    if (value.kind() == ir::Value::Kind::dict) {
      recipe.kind = Recipe::Kind::dict;
      for (const auto& [key, item] : value.entries()) {
        recipe.keys.push_back(key);
        recipe.items.push_back(recipe_of(item));
      }
      return;
    }
    if (value.kind() == ir::Value::Kind::slice) file_error("a slice stands outside an index");
    const bool as_list = value.kind() == ir::Value::Kind::list || type;
    recipe.kind = as_list ? Recipe::Kind::list : Recipe::Kind::tuple;
    recipe.type = type;
    for (const ir::Value& item : value.items()) recipe.items.push_back(recipe_of(item));
  }

  void set_formats(PlanStep& step) {
    const ir::Node& node = *step.node;
    if (node.formats.empty()) return;
    if (const auto rounds = plan_.leaf_ports.find(node.id); rounds != plan_.leaf_ports.end())
      return round_leaf_port(step, rounds->second.port);
    const auto out = node.formats.find("data_out");
    if (out != node.formats.end()) step.out.set(node, "data_out", out->second);
    step.out.keeps_masks = masks_.in(node.id);
    step.hides = masks_.hide(node);
    if (step.kind == PlanStep::Kind::input || step.kind == PlanStep::Kind::tensor) return;
    for (const ir::Port& port : ir::ports(graph_, node)) {
      const auto format = node.formats.find(port.name);
      if (format == node.formats.end() || port.name == "data_out") continue;
      set_format(argument_slot(step, port.argument), node, port, format->second);
    }
  }

  /// Rounds at the port of a leaf. A stored tensor is read here, so that the rounded one is cached.
  void round_leaf_port(PlanStep& step, const std::string& port) {
    const ir::Node& source = graph_.node(first_argument(*step.node).node());
    if (source.kind == ir::NodeKind::get_attr) step.arguments[0] = tensor_recipe(source.target);
    step.arguments[0].set(*step.node, port, step.node->formats.at("data_in"));
  }

  /// The recipe for an argument of the operator.
  Recipe& argument_slot(PlanStep& step, const std::string& name) {
    if (step.kind == PlanStep::Kind::aten) {
      const auto index = step.aten->schema().argumentIndexWithName(name);
      if (index) return step.arguments[static_cast<std::size_t>(*index)];
    } else if (step.kind == PlanStep::Kind::recurrent) {
      const auto place = std::ranges::find(recurrent_arguments, name) - recurrent_arguments.begin();
      return step.arguments.at(static_cast<std::size_t>(place));
    } else if (!step.arguments.empty()) {
      return step.arguments[0];
    }
    file_error("it has a format for argument '" + name + "', which its operator does not have");
  }

  void set_format(Recipe& recipe, const ir::Node& node, const ir::Port& port,
                  const formats::Format& format) const {
    recipe.keeps_masks = recipe.kind == Recipe::Kind::slot && masks_.in(recipe.slot);
    const bool tensors = recipe.kind == Recipe::Kind::list && !port.tensor.empty();
    const bool one_item = recipe.kind == Recipe::Kind::list && port.value.is_node();
    recipe.in_training = port.name != "running_mean" && port.name != "running_var";
    if (!one_item && !tensors) {
      recipe.set(node, port.name, format);
      return;
    }
    std::size_t index = 0;
    for (Recipe& item : recipe.items) {
      const std::string number = std::to_string(index++);
      if (one_item && item.slot != port.value.node()) continue;
      item.set(node, port.name, format);
      if (tensors) item.place = place_number(node.name, port.name + "." + number);
    }
  }

  /// Goes through the steps backwards, so that the first reader found of a slot is the last one.
  void mark_last_uses() {
    std::set<ir::NodeId> seen;
    for (auto step = plan_.steps.rbegin(); step != plan_.steps.rend(); ++step) {
      std::set<ir::NodeId> here;
      if (step->kind == PlanStep::Kind::get_item) {
        step->node->args[1].value.for_each_node([&](ir::NodeId id) { here.insert(id); });
      }
      for (auto recipe = step->arguments.rbegin(); recipe != step->arguments.rend(); ++recipe) {
        mark_recipe(*recipe, seen, here);
      }
      for (const ir::NodeId id : here) {
        if (seen.insert(id).second) step->dead.push_back(id);
      }
      const ir::NodeId own = step->node->id;
      if (!seen.contains(own) && step->kind != PlanStep::Kind::output) step->dead.push_back(own);
    }
  }

  static void mark_recipe(Recipe& recipe, std::set<ir::NodeId>& seen,
                          const std::set<ir::NodeId>& held) {
    if (recipe.kind == Recipe::Kind::slot && !held.contains(recipe.slot)) {
      recipe.last_use = seen.insert(recipe.slot).second;
    }
    for (auto item = recipe.items.rbegin(); item != recipe.items.rend(); ++item) {
      mark_recipe(*item, seen, held);
    }
  }

  Executor::Plan& plan_;
  const ir::Graph& graph_;
  const ir::Masks masks_;
};

Executor::Plan::Plan(const ir::Graph& source, ir::Level run_level, c10::Device where)
    : graph(ir::without_leaf_bodies(source, &leaf_ports)), level(run_level), device(where) {
  for (const auto& [id, port] : leaf_ports) leaves.emplace(port.leaf, source.node(port.leaf));
  PlanBuilder(*this).build();
}

}  // namespace mase::libtorch
