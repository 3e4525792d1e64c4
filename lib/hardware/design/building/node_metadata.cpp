// SPDX-License-Identifier: Apache-2.0
// Modules, files and parameters of a node in the key names of the reference system.
#include "hardware/design/building/node_metadata.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/modules/stream_resize.hpp"
#include "hardware/design/step_table.hpp"
#include "ir/op_table.hpp"

namespace mase::design {
namespace {

using integer::FixedType;

/// Steps of a node, the one that bears its name last.
std::vector<const Step*> steps_of(const Design& design, const std::string& node) {
  std::vector<const Step*> steps;
  for (const Step& step : design.program->steps)
    if (step.layer == node) steps.push_back(&step);
  std::stable_partition(steps.begin(), steps.end(),
                        [&](const Step* step) { return step->name != node; });
  return steps;
}

void add_file(const std::string& file, std::vector<std::string>& files) {
  if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
}

void add_files(const ModuleRow& row, std::vector<std::string>& files) {
  for (const auto& [name, text] : row.files) add_file(name, files);
  if (row.files.empty()) add_file(row.folder + "/" + row.name + ".sv", files);
  for (const std::string& part : row.uses) add_files(module_row(part), files);
}

std::vector<std::string> files_of(const Design& design, const std::string& node) {
  std::vector<std::string> files;
  for (const Instance& instance : design.instances)
    if (instance.layer == node) add_files(instance.module->row(), files);
  return files;
}

/// X_PRECISION_0 (bits), X_PRECISION_1 (fraction), then size and parallelism of every dimension.
void add_operand(Tree& parameters, const std::string& name, const FixedType& type,
                 const Shape& shape, const std::vector<std::int64_t>& lanes) {
  parameters[name + "_PRECISION_0"] = type.width;
  parameters[name + "_PRECISION_1"] = type.frac;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::string dimension = "_DIM_" + std::to_string(d);
    parameters[name + "_TENSOR_SIZE" + dimension] = shape[shape.size() - 1 - d];
    parameters[name + "_PARALLELISM" + dimension] = d < lanes.size() ? lanes[d] : std::int64_t{1};
  }
}

/// The shape in which a step reads frames of so many elements.
Shape frame_shape(const integer::Linear& linear, std::int64_t elements) {
  const std::int64_t rows = elements / linear.inputs;
  return rows == 1 ? Shape{linear.inputs} : Shape{rows, linear.inputs};
}

Shape frame_shape(const integer::Convolution& convolution, std::int64_t) {
  const integer::Window& window = convolution.window;
  return window.x.size == 1 && window.x.kernel == 1
             ? Shape{window.y.size, window.channels}
             : Shape{window.y.size, window.x.size, window.channels};
}

/// A frame as the step reads it: a layer behind a reshape has another shape than what it reads was
/// made in.
Shape shape_read(const Program& program, const Step& step, const StreamValue& value) {
  return std::visit(
      [&](const auto& operation) {
        if constexpr (requires { frame_shape(operation, value.elements()); })
          return frame_shape(operation, value.elements());
        const StreamValue& output = program.value(step.output);
        const bool same = output.elements() == value.elements();
        return same && !operation.only_moves ? output.shape : value.shape;
      },
      step.operation);
}

void add_weights(Tree& parameters, const Step& step, const Fold& fold) {
  const auto matrix = integer::constant_matrix(step.operation);
  if (!matrix) return;
  add_operand(parameters, "WEIGHT", matrix->weight_type, {matrix->rows, matrix->columns},
              {fold.in_lanes, fold.out_lanes});
  if (matrix->bias.empty()) return;
  const int width =
      matrix->bias_width > 0 ? matrix->bias_width : integer::codes_width(matrix->bias);
  add_operand(parameters, "BIAS", {width, step.frac, true}, {1, std::ssize(matrix->bias)},
              {fold.out_lanes});
}

/// How many straight pieces a function has, and how far its results are off at most.
void add_approximation(Tree& parameters, const Step& step) {
  const auto approximation = integer::approximation(step.operation);
  if (!approximation) return;
  parameters["SEGMENTS"] = approximation->pieces;
  parameters["LARGEST_ERROR_LSB"] = approximation->largest_error;
}

/// The step that makes the node's result: the one that bears its name, or what shifts its
/// accumulators.
const Step& last_step(const std::vector<const Step*>& steps) {
  const auto reader = std::ranges::find_if(steps, [&](const Step* step) {
    return std::ranges::count(step->inputs, steps.back()->output) > 0;
  });
  return reader == steps.end() ? *steps.back() : **reader;
}

Tree parameters_of(const Design& design, const std::vector<const Step*>& steps) {
  Tree parameters = Tree::dict();
  if (steps.empty()) return parameters;
  const Program& program = *design.program;
  const Step &step = *steps.back(), &last = last_step(steps);
  const Fold& fold = design.folding.at(step.name);
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const StreamValue& value = program.value(step.inputs[i]);
    add_operand(parameters, "DATA_IN_" + std::to_string(i), value.type,
                shape_read(program, step, value), {step_row(step).input_lanes(step, fold, i)});
  }
  add_weights(parameters, step, fold);
  add_approximation(parameters, step);
  const StreamValue& output = program.value(last.output);
  add_operand(parameters, "DATA_OUT_0", output.type, output.shape,
              {output_lanes(program, last, design.folding.at(last.name))});
  return parameters;
}

/// The instance that takes what a FIFO gives, behind converters of its lanes; null for a port.
const Instance* reader_of(const Design& design, const Instance& fifo) {
  StreamId stream = fifo.outputs[0];
  for (;;) {
    const auto takes = [&](const Instance& instance) {
      return std::ranges::count(instance.inputs, stream) > 0;
    };
    const auto reader = std::ranges::find_if(design.instances, takes);
    if (reader == design.instances.end()) return nullptr;
    if (!is_a<ResizeModule>(*reader)) return &*reader;
    stream = reader->outputs[0];
  }
}

/// FIFOs in front of a node, by instance name.
Tree fifos_of(const Design& design, const std::string& node) {
  Tree fifos = Tree::dict();
  for (const std::size_t i : design.fifos()) {
    const Instance& fifo = design.instances[i];
    const Instance* reader = reader_of(design, fifo);
    if (reader && reader->layer == node) fifos[fifo.name] = depth_of(fifo);
  }
  return fifos;
}

Tree interface_of(const ir::Graph& graph, const ir::Node& node) {
  Tree interface = Tree::dict();
  for (const ir::Port& port : ir::ports(graph, node)) {
    if (port.tensor.empty()) continue;
    interface[port.argument]["storage"] = "BRAM";
    interface[port.argument]["transpose"] = false;
  }
  return interface;
}

}  // namespace

const Instance* main_instance(const Design& design, const Step& step) {
  for (const Instance& instance : design.instances)
    for (StreamId id : instance.outputs)
      if (instance.layer == step.layer && design.stream(id).value == step.output) return &instance;
  return nullptr;
}

std::string multiplier_name(Multiplier multiplier) {
  constexpr const char* names[] = {"auto", "dsp", "fabric"};
  return names[static_cast<std::size_t>(multiplier)];
}

Multiplier multiplier_of(const std::string& name) {
  if (name == "dsp") return Multiplier::dsp;
  return name == "fabric" ? Multiplier::fabric : Multiplier::automatic;
}

Tree fold_tree(const Fold& fold) {
  Tree tree = Tree::dict();
  tree["in_lanes"] = fold.in_lanes;
  tree["out_lanes"] = fold.out_lanes;
  tree["parallel_window"] = fold.parallel_window;
  tree["multiplier"] = multiplier_name(fold.multiplier);
  if (fold.packing.outputs > 1) {
    tree["packing"]["outputs"] = fold.packing.outputs;
    tree["packing"]["pitch"] = fold.packing.pitch;
  }
  for (const StageKind& kind : stage_kinds)
    if (fold.*kind.count > 0) tree[kind.key] = fold.*kind.count;
  return tree;
}

namespace {

[[noreturn]] void refuse_fold() {
  file_error("the graph's hardware metadata has a damaged fold; run add_hardware_metadata again");
}

/// The packing in a fold's record; that of one output without an entry.
Packing packing_of(const Tree& fold) {
  const Tree* tree = fold.find("packing");
  if (!tree) return {};
  const Tree *outputs = tree->find("outputs"), *pitch = tree->find("pitch");
  if (!outputs || !outputs->is_int() || outputs->as_int() < 2 || !pitch || !pitch->is_int() ||
      pitch->as_int() < 1)
    refuse_fold();
  return {outputs->as_int(), pitch->as_int()};
}

/// The stages in a fold's record; 0 without an entry.
std::int64_t stages_of(const Tree& fold, const char* key) {
  const Tree* stages = fold.find(key);
  if (!stages) return 0;
  if (!stages->is_int() || stages->as_int() < 1) refuse_fold();
  return stages->as_int();
}

}  // namespace

Fold fold_of(const Tree& tree) {
  const Tree *in = tree.find("in_lanes"), *out = tree.find("out_lanes");
  const Tree *window = tree.find("parallel_window"), *multiplier = tree.find("multiplier");
  if (!in || !in->is_int() || !out || !out->is_int() || !window || !window->is_bool() ||
      !multiplier || !multiplier->is_string())
    refuse_fold();
  Fold fold{in->as_int(), out->as_int(), window->as_bool(), multiplier_of(multiplier->as_string()),
            packing_of(tree)};
  for (const StageKind& kind : stage_kinds) fold.*kind.count = stages_of(tree, kind.key);
  if (fold.weight_stages > fold.operand_stages) refuse_fold();
  return fold;
}

Tree hardware_metadata(const ir::Graph& graph, const ir::Node& node, const Design& design,
                       const MetadataSettings& settings) {
  const std::vector<const Step*> steps = steps_of(design, node.name);
  const Instance* instance = steps.empty() ? nullptr : main_instance(design, *steps.back());
  Tree record = Tree::dict();
  record["is_implicit"] = steps.empty();
  record["interface"] = interface_of(graph, node);
  record["toolchain"] = instance && instance->module->is_external() ? "EXTERNAL" : "INTERNAL";
  record["module"] = instance ? Tree(instance->module.name()) : Tree();
  const auto device = settings.devices.find(node.name);
  record["device_id"] = device == settings.devices.end() ? -1 : device->second;
  record["dependence_files"] = Tree::list_of(files_of(design, node.name));
  std::vector<std::int64_t> lanes = settings.max_parallelism;
  if (lanes.empty() && !steps.empty()) {
    const Fold& fold = design.folding.at(steps.back()->name);
    lanes = {fold.in_lanes, fold.out_lanes};
  }
  record["max_parallelism"] = Tree::list_of(lanes);
  record["verilog_param"] = parameters_of(design, steps);
  Tree& folds = record["fold"] = Tree::dict();
  for (const Step* step : steps) folds[step->name] = fold_tree(design.folding.at(step->name));
  record["fifos"] = fifos_of(design, node.name);
  return record;
}

}  // namespace mase::design
