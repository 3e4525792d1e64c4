// SPDX-License-Identifier: Apache-2.0
// The import as a whole: inputs, tensors, outputs and containers.
#include <algorithm>
#include <stdexcept>

#include "base/error.hpp"
#include "ir/naming.hpp"
#include "ir/vary_batch.hpp"
#include "pt2/fields.hpp"
#include "pt2/import/importer.hpp"

namespace mase::pt2 {
namespace {

/// The sizes of what varies where the program knows no example: the batch comes first.
constexpr std::int64_t default_batch = 2, default_size = 32;

/// The class of a module that Python never calls: lists hold modules by their numbers.
std::string_view uncalled_class(const ir::Graph& graph, const std::string& path) {
  const std::string prefix = path + ".";
  bool numbered = false;
  const auto is_numbered = [&](const std::string& below) {
    const std::string_view rest = std::string_view(below).substr(prefix.size());
    const std::string_view name = rest.substr(0, rest.find('.'));
    return name.size() < rest.size() && name.find_first_not_of("0123456789") == std::string::npos;
  };
  for (auto one = graph.tensors.lower_bound(prefix);
       one != graph.tensors.end() && one->first.starts_with(prefix); ++one)
    if (!(numbered = is_numbered(one->first))) break;
  return numbered ? "torch.nn.modules.container.ModuleList" : "torch.nn.modules.module.Module";
}

}  // namespace

std::vector<std::string> inputs_of(const Program& program) {
  std::vector<std::string> names;
  for (const InputSpec& input : program.inputs)
    if (input.kind == InputSpec::Kind::user) names.push_back(input.name);
  return names;
}

Importer::Importer(const Program& program, const ImportOptions& options,
                   const std::set<std::string>& kept)
    : program_(program), options_(options), graph_(imported_.graph), kept_paths_(kept) {
  known_.graph = &graph_;
  for (const Node& node : program.nodes)
    if (!is_assertion(node)) ++recorded_[node.function.call];
  for (std::size_t i = 0; i < program.nodes.size(); ++i)
    for (const NodeArgument& input : program.nodes[i].inputs)
      for (const std::string& name : names_in(input.value)) uses_[name].push_back(i);
  for (const OutputSpec& output : program.outputs)
    for (const std::string& name : names_in(output.value))
      uses_[name].push_back(program.nodes.size());
}

void Importer::add_tensors() {
  // PyTorch's state_dict has the tensors of one module after each other; the signature has all
  // parameters before all buffers.
  std::vector<std::string> owners;
  const auto place_of = [&](const std::string& path) {
    const std::string owner(ir::owner_of(path));
    const auto found = std::ranges::find(owners, owner);
    if (found != owners.end()) return found - owners.begin();
    owners.push_back(owner);
    return std::ssize(owners) - 1;
  };
  std::vector<std::pair<std::ptrdiff_t, const InputSpec*>> order;
  for (const InputSpec& input : program_.inputs)
    if (!input.path.empty()) order.emplace_back(place_of(input.path), &input);
  std::ranges::stable_sort(order, {}, &std::pair<std::ptrdiff_t, const InputSpec*>::first);
  for (const auto& [place, input] : order) add_tensor(*input);
  // What no node reads, as a batch norm's count of batches, belongs to the state_dict all the same.
  for (const auto& [path, value] : program_.values)
    if (!graph_.tensors.contains(path) && !program_.tied.contains(path))
      graph_.set_tensor(path, {value, program_.parameters.contains(path), false});
  for (const auto& [other, path] : program_.tied)
    if (const auto tensor = graph_.tensors.find(path); tensor != graph_.tensors.end())
      tensor->second.other_names.push_back(other);
}

void Importer::add_tensor(const InputSpec& input) {
  const bool parameter = input.kind == InputSpec::Kind::parameter;
  const auto meta = program_.tensors.find(input.name);
  const bool grad = parameter && meta != program_.tensors.end() && meta->second.requires_grad;
  const auto tied = program_.tied.find(input.path);
  const std::string& path = tied == program_.tied.end() ? input.path : tied->second;
  if (!graph_.tensors.contains(path))
    graph_.set_tensor(path, {program_.values.at(path), parameter, grad});
  define(input.name, {{}, path});
  if (!kept_paths_.contains(path))
    state_.insert(input.name);
  else if (const auto [kept, added] = kept_.try_emplace(path); added)
    kept->second.name = input.name;
  else
    same_memory_[input.name] = kept->second.name;
}

void Importer::add_placeholder(const std::string& name, const ir::ValueInfo& info) {
  ir::Node node;
  node.kind = ir::NodeKind::placeholder;
  node.name = name;
  node.target = name;
  node.info = info;
  graph_.add(std::move(node));
}

void Importer::add_input(const InputSpec& input) {
  const auto meta = program_.tensors.find(input.name);
  if (meta == program_.tensors.end())
    file_error("tensor_values does not describe the input '" + input.name + "'");
  const std::vector<SymInt>& sizes = meta->second.sizes;
  Shape shape;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    shape.push_back(sizes[i].value.value_or(i == 0 ? default_batch : default_size));
  bool other_batch = false;
  if (const auto given = options_.inputs.find(input.name); given != options_.inputs.end()) {
    const Shape& example = given->second.shape();
    bool fits = example.size() == shape.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i) {
      const bool same = example[i] == shape[i];
      if (!sizes[i].expression.empty())
        shape[i] = example[i];
      else if (i == 0 && !same)
        other_batch = true;
      else
        fits = same;
      exported_sizes_ = exported_sizes_ && same;
    }
    if (!fits)
      config_error("the example for '" + input.name + "' has the shape " + shape_text(example) +
                   ", the program was exported for " + shape_text(shape) +
                   "; torch.export.export has dynamic_shapes for sizes that vary");
  }
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (sizes[i].expression.empty() && !(i == 0 && other_batch))
      graph_.guards.push_back({"the export", "size(" + input.name + ", " + std::to_string(i) +
                                                 ") == " + std::to_string(shape[i])});
  add_placeholder(input.name, ir::ValueInfo::tensor(meta->second.dtype, shape));
  const ir::NodeId id = graph_.placeholders().back();
  if (other_batch) other_batch_.push_back(id);
  define(input.name, {ir::NodeRef{id}, ""});
}

/// Lets the batch vary that the export has fixed.
void Importer::vary_batch() {
  if (other_batch_.empty()) return;
  const auto example_of = [&](ir::NodeId id) {
    return options_.inputs.at(graph_.node(id).target).shape().front();
  };
  const ir::NodeId first = other_batch_.front();
  const std::int64_t exported = graph_.node(first).info.shape.front(), batch = example_of(first);
  for (const ir::NodeId id : other_batch_)
    if (graph_.node(id).info.shape.front() != exported || example_of(id) != batch)
      config_error("the inputs '" + graph_.node(first).target + "' and '" + graph_.node(id).target +
                   "' have different batches");
  const auto varies = [](const InputSpec& input, const Program& program) {
    return std::ranges::any_of(program.tensors.at(input.name).sizes,
                               [](const SymInt& size) { return !size.expression.empty(); });
  };
  const bool others_vary = std::ranges::any_of(program_.inputs, [&](const InputSpec& input) {
    return input.kind == InputSpec::Kind::user && varies(input, program_);
  });
  if (const auto obstacle = ir::vary_batch(graph_, other_batch_, batch, others_vary))
    unsupported_error("the program was exported for the batch " + std::to_string(exported) +
                      ", and other batches cannot be taken because of the node '" +
                      graph_.node(obstacle->node).name + "': " + obstacle->reason +
                      "; torch.export.export has dynamic_shapes for sizes that vary");
  imported_.notes.push_back("the program was exported for the batch " + std::to_string(exported) +
                            "; the graph takes any, and computes each row as the program does");
}

void Importer::add_inputs() {
  add_tensors();
  for (const InputSpec& input : program_.inputs) {
    if (input.kind == InputSpec::Kind::user) add_input(input);
    if (input.kind == InputSpec::Kind::number && !input.name.empty())
      define(input.name, {argument(input.value, nullptr), ""});
  }
  check_conditions();
  add_state();
}

ir::Value Importer::nested(const Tree& spec, std::vector<ir::Value>& leaves) const {
  const Tree& type = field(spec, "type");
  if (type.is_null()) {
    if (leaves.empty()) file_error("out_spec has more leaves than the graph has outputs");
    ir::Value first = leaves.front();
    leaves.erase(leaves.begin());
    return first;
  }
  std::vector<ir::Value> items;
  for (const Tree& child : list_of(field(spec, "children_spec"), "children_spec"))
    items.push_back(nested(child, leaves));
  const std::string name = text_of(spec, "type");
  if (name == "builtins.list") return ir::Value::list(std::move(items));
  if (name == "builtins.dict" || name == "collections.OrderedDict" ||
      name.find("ModelOutput") != std::string::npos || name.starts_with("transformers.")) {
    const Tree keys = parse_json(text_of(spec, "context"), "out_spec");
    const Tree::List& names = list_of(keys, "the keys of out_spec");
    if (names.size() != items.size()) file_error("out_spec has other keys than values");
    ir::Value::Dict entries;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!names[i].is_string()) unsupported_error("dicts of outputs need text keys");
      entries.emplace_back(names[i].as_string(), items[i]);
    }
    return ir::Value::dict(std::move(entries));
  }
  return ir::Value::tuple(std::move(items));
}

void Importer::add_output() {
  std::vector<ir::Value> leaves;
  for (const OutputSpec& output : program_.outputs) {
    if (output.kind != OutputSpec::Kind::user) continue;
    ir::Value value = argument(output.value, nullptr);
    read_tensors(value);
    leaves.push_back(std::move(value));
  }
  ir::Node node;
  node.kind = ir::NodeKind::output;
  node.target = "output";
  node.name = "output";
  const bool has_tree = program_.output_tree.is_list() && program_.output_tree.size() == 2;
  const ir::Value result = has_tree             ? nested(program_.output_tree.as_list()[1], leaves)
                           : leaves.size() == 1 ? leaves[0]
                                                : ir::Value::tuple(leaves);
  node.args = {{"value", with_state(result)}};
  const ir::NodeId id = graph_.add(std::move(node));
  if (const auto info = ir::infer(graph_, graph_.node(id), known_)) graph_.node(id).info = *info;
}

void Importer::name_containers() {
  for (const Node& node : program_.nodes)
    for (const ModuleCall& module : node.modules)
      if (!graph_.modules.contains(module.path) && module.call != module.path)
        graph_.containers.emplace(module.path, module.class_name);
  for (const auto& [path, tensor] : graph_.tensors)
    for (std::string_view owner = ir::owner_of(path); !owner.empty(); owner = ir::owner_of(owner))
      if (!graph_.modules.contains(std::string(owner)))
        graph_.containers.emplace(owner, uncalled_class(graph_, std::string(owner)));
}

Imported Importer::import() {
  add_inputs();
  import_range({0, program_.nodes.size()}, 0);
  add_output();
  for (const OutputSpec& output : program_.outputs)
    if (output.kind == OutputSpec::Kind::tensor) changed_tensors_.insert(output.path);
  graph_.remove_dead_nodes();
  finish_state();
  ir::remove_unused_tensors(graph_);
  find_unsettled();
  if (!unsettled_.empty()) return {};
  vary_batch();
  name_containers();
  const auto whole = graph_.containers.find("");
  const std::string class_name = whole == graph_.containers.end() ? "graph" : whole->second;
  graph_.containers.emplace("", class_name);
  graph_.name = class_name.substr(class_name.rfind('.') + 1);
  return std::move(imported_);
}

Imported import_program(const Program& program, const ImportOptions& options) {
  try {
    std::set<std::string> kept;
    while (true) {
      Importer importer(program, options, kept);
      Imported imported = importer.import();
      if (importer.unsettled().empty()) return imported;
      kept.insert(importer.unsettled().begin(), importer.unsettled().end());
    }
  } catch (const Error& error) {
    throw Error(error.fault(), program.path + ": " + error.what());
  } catch (const std::logic_error&) {
    file_error(program.path + ": inputs and outputs of the program do not fit its graph");
  }
}

}  // namespace mase::pt2
