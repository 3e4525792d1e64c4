// SPDX-License-Identifier: Apache-2.0
// Imports a model with state in several rounds, and finds the state that the results depend on.
#include "torch/import/state.hpp"

#include <ATen/ops/zeros_like.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "torch/import/interpreter.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {
namespace {

constexpr int most_rounds = 6;

bool is_defined(const c10::IValue& value) { return value.isTensor() && value.toTensor().defined(); }

bool has_shape_of(const c10::IValue& a, const c10::IValue& b) {
  return is_defined(a) && is_defined(b) && a.toTensor().sizes() == b.toTensor().sizes() &&
         a.toTensor().scalar_type() == b.toTensor().scalar_type();
}

/// The attribute at a path ("decoder.hidden").
c10::IValue attribute_at(const jit::Module& module, const std::string& path) {
  c10::IValue value = module._ivalue();
  for (const std::string& name : split(path, '.')) value = value.toObjectRef().getAttr(name);
  return value;
}

void tensors_within(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (is_defined(value)) tensors.push_back(value.toTensor());
  if (value.isTuple())
    for (const c10::IValue& item : value.toTupleRef().elements()) tensors_within(item, tensors);
  if (value.isList())
    for (const c10::IValue& item : value.toListRef()) tensors_within(item, tensors);
  if (value.isGenericDict())
    for (const auto& entry : value.toGenericDict()) tensors_within(entry.value(), tensors);
}

/// Whether the tensors in two values are equal.
bool same_tensors(const c10::IValue& a, const c10::IValue& b) {
  std::vector<at::Tensor> left, right;
  tensors_within(a, left);
  tensors_within(b, right);
  return std::ranges::equal(left, right, same_values);
}

/// The rounds of an import. Each starts with state of the shapes that the previous one has left.
class Rounds {
 public:
  Rounds(const jit::Module& module, const ir::Graph& tensors, const backend::ImportOptions& options,
         std::optional<at::ScalarType> converted)
      : module_(module), tensors_(tensors), options_(options), converted_(converted) {}

  backend::Imported run() {
    std::string before;
    for (int round = 0; round < most_rounds; ++round) {
      Run run = import();
      const bool is_last =
          run.after.empty() || (!begin_.empty() && ir::print(run.imported.graph) == before);
      if (is_last) Importer::require_all_used(run.used, options_.inputs.size());
      if (run.after.empty()) return std::move(run.imported);
      if (!first_) first_ = Run{{}, run.after, run.result, {}, 0, false};
      if (is_last) return settled(std::move(run));
      before = begin_.empty() ? "" : ir::print(run.imported.graph);
      begin_ = begin_with(run.after);
    }
    unsupported_error("the state that the model keeps between runs makes every run differ: " +
                      join(changing_, ", "));
  }

 private:
  struct Run {
    backend::Imported imported;
    State after;
    c10::IValue result;
    std::string empty_at;  ///< a place that makes an uninitialised tensor
    std::size_t used = 0;  ///< number of used example inputs
    bool given = false;    ///< the user has given the initial state
  };

  /// Makes one import. Tensors that turn out to be changed in place become state.
  Run import() {
    while (true) {
      try {
        Run run = import(0);
        if (!run.empty_at.empty()) require_same(run, import(1));
        return run;
      } catch (const OwnTensorChanged& changed) {
        if (begin_.contains(changed.path())) throw;
        begin_[changed.path()] = attribute_at(module_, changed.path()).toTensor().clone();
      }
    }
  }

  Run import(double fill) {
    Run run{{tensors_, {}, {}}, {}, {}, {}, 0, false};
    Importer importer(run.imported.graph, options_, converted_);
    importer.fill_with(fill);
    importer.begin_with(begin_);
    importer.run(module_);
    run.after = importer.state_after();
    run.result = importer.result();
    run.imported.state = importer.kept_state();
    run.empty_at = importer.empty_at();
    run.used = importer.used_inputs();
    run.given = importer.state_is_given();
    return run;
  }

  static void require_same(const Run& run, const Run& other) {
    bool same = same_tensors(run.result, other.result);
    for (const auto& [path, value] : run.after)
      same = same && same_tensors(value, other.after.at(path));
    if (!same)
      unsupported_error("the tensor that " + run.empty_at +
                        " makes has no values, but the result depends on them; use torch.zeros");
  }

  /// The state for the next round: the file's tensors if runs keep their shape, otherwise zeros.
  State begin_with(const State& after) {
    State begin;
    changing_.clear();
    for (const auto& [path, value] : after) {
      const c10::IValue initial = attribute_at(module_, path);
      const auto before = begin_.find(path);
      if (before == begin_.end() ||
          !(has_shape_of(before->second, value) || (!value.isTensor() && before->second == value)))
        changing_.push_back("'" + path + "'");
      if (has_shape_of(initial, value))
        begin[path] = initial.toTensor().clone();
      else
        begin[path] = is_defined(value) ? c10::IValue(at::zeros_like(value.toTensor())) : value;
    }
    return begin;
  }

  bool starts_as_in_the_file() const {
    return std::ranges::all_of(begin_, [&](const auto& entry) {
      return !is_defined(entry.second) ||
             has_shape_of(attribute_at(module_, entry.first), entry.second);
    });
  }

  /// The final graph with its initial state. It may be the graph of all runs except the first.
  backend::Imported settled(Run run) {
    std::string note;
    if (!run.given && !starts_as_in_the_file()) {
      note = "; they start as zeros";
      if (!same_tensors(run.result, first_->result)) {
        note = "; the graph is that of all runs but the first, where they have other shapes";
        for (auto& [path, value] : begin_) value = first_->after.at(path);
        run = import();
      }
    }
    const std::string names = names_of(run.imported);
    if (!names.empty())
      run.imported.notes.push_back(
          "the state that it keeps between runs becomes inputs and results: " + names + note);
    return std::move(run.imported);
  }

  static std::string names_of(const backend::Imported& imported) {
    const auto placeholders = imported.graph.placeholders();
    std::vector<std::string> names;
    for (std::size_t i = placeholders.size() - imported.state.size(); i < placeholders.size();
         ++i) {
      const ir::Node& node = imported.graph.node(placeholders[i]);
      names.push_back(node.target + " " + std::string(dtype_name(node.info.dtype)) +
                      shape_text(node.info.shape));
    }
    return join(names, ", ");
  }

  const jit::Module& module_;
  const ir::Graph& tensors_;
  const backend::ImportOptions& options_;
  std::optional<at::ScalarType> converted_;
  State begin_;
  std::optional<Run> first_;
  std::vector<std::string> changing_;
};

std::string input_name(std::string path) {
  std::ranges::replace(path, '.', '_');
  return path;
}

/// Whether a tensor, or a part or view of it, is changed in place.
bool is_written(const jit::Value* value, int depth = 0) {
  constexpr int most_views = 8;
  return depth < most_views && std::ranges::any_of(value->uses(), [&](const jit::Use& use) {
           const std::string_view kind = use.user->kind().toQualString();
           if (use.offset != 0 || use.user->outputs().size() != 1) return false;
           return ir::plain_op(kind) != ir::base_op(kind) ||
                  (use.user->output()->type()->kind() == c10::TypeKind::TensorType &&
                   is_written(use.user->output(), depth + 1));
         });
}

/// Collects the attributes that a block assigns or changes in place.
void find_changed(const jit::Block* block, std::set<std::string>& names) {
  for (const jit::Node* node : block->nodes()) {
    for (const jit::Block* inner : node->blocks()) find_changed(inner, names);
    const bool sets = node->kind() == c10::prim::SetAttr;
    const bool writes = node->kind() == c10::prim::GetAttr &&
                        node->output()->type()->kind() == c10::TypeKind::TensorType &&
                        is_written(node->output());
    if ((sets || writes) && node->input(0)->node()->kind() == c10::prim::Param)
      names.insert(node->s(jit::attr::name));
  }
}

}  // namespace

backend::Imported import_with_state(const jit::Module& module, const ir::Graph& graph,
                                    const backend::ImportOptions& options,
                                    std::optional<at::ScalarType> converted) {
  return Rounds(module, graph, options, converted).run();
}

std::vector<std::string> names_of_state(const jit::Module& module) {
  std::vector<std::string> found;
  for (const auto& part : module.named_modules()) {
    std::set<std::string> names;
    for (const jit::Method& method : part.value.get_methods())
      if (method.function().isGraphFunction())
        find_changed(jit::toGraphFunction(method.function()).graph()->block(), names);
    for (const std::string& name : names)
      if (const auto attribute = part.value.type()->findAttribute(name);
          attribute && attribute->isSubtypeOf(*c10::OptionalType::ofTensor()))
        found.push_back(input_name(part.name.empty() ? name : part.name + "." + name));
  }
  return found;
}

void Importer::begin_with(const State& state) {
  for (const auto& [path, value] : state) {
    Cell cell;
    cell.value = value;
    state_[path] = make_cell(std::move(cell));
  }
}

void Importer::take_state() {
  std::set<std::string> taken;
  for (const ir::NodeId id : graph_.placeholders()) taken.insert(graph_.node(id).target);
  for (auto& [path, cell] : state_) {
    if (!is_defined(cell->value)) continue;
    const std::string name = input_name(path);
    const auto given = std::ranges::find(options_.input_names, name);
    const bool by_name = given != options_.input_names.end();
    c10::IValue value = cell->value;
    const Array initial = to_array(value.toTensor(), path);
    if (by_name)
      value = view_of(
          options_.inputs.at(static_cast<std::size_t>(given - options_.input_names.begin())));
    else if (options_.input_names.empty() && used_ < options_.inputs.size())
      value = view_of(options_.inputs[used_]);
    const bool is_given = !value.is(cell->value);
    used_ += is_given ? 1 : 0;
    state_is_given_ = state_is_given_ || is_given;
    cell = builder_.placeholder(taken.contains(name) ? name + "_state" : name, value);
    state_inputs_[path] = {cell->node, to_array(value.toTensor(), path), initial};
  }
}

void Importer::require_all_used(std::size_t used, std::size_t given) {
  if (used < given)
    file_error("the model takes " + std::to_string(used) + " inputs, but " + std::to_string(given) +
               " examples were given");
}

void Importer::set_state(const std::string& path, const Ref& value, const jit::Node* node) {
  if (in_body_)
    unsupported_error("a leaf keeps '" + path + "' between runs at " + places_of(node) +
                      "; without the option it is imported op by op");
  const bool has_parts = is_container(*value) && !is_static(*value);
  if (has_parts || value->kind == Cell::Kind::object)
    unsupported_error("the model keeps '" + path + "' between runs at " + places_of(node) +
                      "; supported are tensors and constants, each in an attribute of its own");
  state_[path] = value;
}

void Importer::open_scope() {
  state_before_scope_ = state_;
  builder_.open_scope();
}

void Importer::abandon_scope() {
  state_ = state_before_scope_;
  builder_.abandon_scope();
}

State Importer::state_after() const {
  State after;
  for (const auto& [path, cell] : state_) after[path] = concrete(*cell);
  return after;
}

std::set<std::string> Importer::needed_state(const Ref& result) {
  std::set<ir::NodeId> seen;
  const auto visit = [&](ir::NodeId id, const auto& again) -> void {
    if (!seen.insert(id).second) return;
    for (const ir::NodeId input : graph_.inputs(id)) again(input, again);
  };
  const auto see = [&](const Ref& cell) {
    builder_.argument(cell).for_each_node([&](ir::NodeId id) { visit(id, visit); });
  };
  see(result);
  std::set<std::string> needed;
  for (std::size_t before = 1; before != needed.size();) {
    before = needed.size();
    for (const auto& [path, input] : state_inputs_)
      if (seen.contains(input.node) && needed.insert(path).second) see(state_.at(path));
    if (needed.empty()) break;
  }
  return needed;
}

Ref Importer::with_state(const Ref& given, const std::set<std::string>& needed) {
  const Ref result = taken_apart(given);
  Cell all;
  all.kind = Cell::Kind::dict;
  if (result->kind == Cell::Kind::dict) {
    all = *result;
  } else if (is_container(*result)) {
    all.items = result->items;
    for (std::size_t i = 0; i < all.items.size(); ++i) all.keys.emplace_back(std::to_string(i));
  } else {
    all.items = {result};
    all.keys = {"output"};
  }
  for (const std::string& path : needed) {
    all.keys.emplace_back(input_name(path));
    all.items.push_back(state_.at(path));
  }
  return make_cell(std::move(all));
}

void Importer::finish(const Ref& result) {
  result_ = concrete(*result);
  const std::set<std::string> needed = needed_state(result);
  builder_.finish(needed.empty() ? result : with_state(result, needed));
  if (state_inputs_.empty()) return;
  graph_.remove_dead_nodes();
  for (const auto& [path, input] : state_inputs_) {
    if (!needed.contains(path)) {  // it affects only itself
      graph_.erase(input.node);
      continue;
    }
    kept_state_.push_back(input.value);
    for (auto& [other, tensor] : graph_.tensors) std::erase(tensor.other_names, path);
    ir::Tensor beginning{input.initial};
    beginning.begins = graph_.node(input.node).target;
    graph_.set_tensor(path, std::move(beginning));
  }
}

}  // namespace mase::libtorch
