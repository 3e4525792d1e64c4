// SPDX-License-Identifier: Apache-2.0
// The pass: from options to a target, from the chosen folding to metadata and tables.
#include "hardware/design/add_hardware_metadata.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/design/balance_devices.hpp"
#include "hardware/design/build.hpp"
#include "hardware/design/building/node_metadata.hpp"
#include "hardware/design/building/size_fifos.hpp"
#include "hardware/design/clock.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/design_of.hpp"
#include "hardware/design/device_limits.hpp"
#include "hardware/design/device_report.hpp"
#include "hardware/design/distribution.hpp"
#include "hardware/design/folding/choose_folding.hpp"
#include "hardware/design/folding/efficiency.hpp"
#include "hardware/design/folding/packing.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/step_table.hpp"

namespace mase::design {
namespace {

using integer::Contents;
using Options = AddHardwareMetadata::Options;
using Layer = AddHardwareMetadata::Layer;

struct Request {
  Options options;
  std::vector<std::pair<std::string, Layer>> layers;
};

Request read_request(const Tree& tree, Diagnostics& diagnostics) {
  Request request;
  read_fields(tree, request.options, diagnostics, {"layers"});
  const Tree* layers = tree.find("layers");
  if (!layers) return request;
  if (!layers->is_dict()) {
    field_detail::wrong_type(*layers, "layers", "table", diagnostics);
    return request;
  }
  for (const auto& [node, table] : layers->as_dict()) {
    Layer layer;
    read_fields(table, layer, diagnostics);
    request.layers.emplace_back(node, layer);
  }
  return request;
}

bool has_target(const Request& request) {
  const Tree given = write_fields(request.options), untouched = write_fields(Options());
  return !request.layers.empty() ||
         std::ranges::any_of(describe_fields<Options>(), [&](const FieldInfo& field) {
           return field.target && given.at(field.name) != untouched.at(field.name);
         });
}

Request checked_request(const Tree& tree, Diagnostics& diagnostics) {
  Request request = read_request(tree, diagnostics);
  if (request.options.keep && has_target(request))
    diagnostics.error(tree.at("keep").where, "keep stands alone: a target chooses the folds anew");
  if (!request.options.devices.empty() && request.options.device_id >= 0)
    diagnostics.error(tree.at("devices").where, "device_id is for all nodes; leave it out");
  check_devices(request.options, tree, diagnostics);
  return request;
}

/// The devices that the user names, or those that the nodes have; a number of them are all one
/// here.
Distribution distribution_for(const ir::Graph& graph, const Program& program,
                              const Options& options) {
  Distribution distribution = stored_distribution(graph);
  if (options.device_id >= 0 || options.devices.count > 0)
    for (const Step& step : program.steps)
      distribution.devices[step.layer] =
          static_cast<int>(std::max<std::int64_t>(options.device_id, 0));
  name_devices(graph, program, options.devices, distribution);
  complete(program, distribution);
  set_links(options, distribution.links);
  return distribution;
}

/// The design with links between its devices, none of which takes more than it may.
Design distributed(const ir::Graph& graph, Design design, const Options& options) {
  const Distribution distribution = distribution_for(graph, *design.program, options);
  const DeviceLimits limits(options);
  const bool cut = options.devices.count > 1;
  if (cut || distribution.has_links()) {
    if (design.reloadable)
      config_error(
          "the weights of a design on several devices cannot be replaced; leave out "
          "reloadable, or devices");
    const auto interval = options.initiation_interval.value_or(best_interval(design));
    Design joined = cut ? build_balanced(design, options.devices.count,
                                         {distribution.links, interval, limits, {}})
                        : build(design.program, design.folding, distribution);
    joined.gap = design.gap;
    design = std::move(joined);
  } else {
    design.distribution = distribution;
  }
  check_limits(design, limits);
  if (options.initiation_interval) check_links(design, *options.initiation_interval);
  return design;
}

Target target_of(const Request& request) {
  Target target;
  const Options& options = request.options;
  target.initiation_interval = options.initiation_interval;
  target.lut = options.lut;
  target.dsp = options.dsp;
  target.bram = options.bram;
  target.multiplier = multiplier_of(options.multiplier);
  target.block = &dsp_block(options.dsp_block);
  target.packing = options.packing;
  target.clock = {options.clock_mhz, &technology_of(options.family)};
  if (!options.max_parallelism.empty()) target.max_lanes = options.max_parallelism.front();
  for (const auto& [node, layer] : request.layers)
    target.layers[node] = {layer.simd.value_or(0), layer.pe.value_or(0), layer.parallel_window,
                           multiplier_of(layer.multiplier)};
  for (const auto& [node, layer] : request.layers)
    if (layer.packing) target.layer_packing[node] = *layer.packing;
  return target;
}

std::string fold_text(const Program& program, const Step& step, const Fold& fold) {
  std::string text = std::to_string(fold.in_lanes);
  if (!step_row(step).rule(program, step, fold).same)
    text += " x " + std::to_string(fold.out_lanes);
  if (fold.parallel_window) text += " window";
  if (fold.multiplier != Multiplier::automatic) text += " " + multiplier_name(fold.multiplier);
  if (fold.packing.outputs > 1) text += " packed " + std::to_string(fold.packing.outputs);
  for (const StageKind& kind : stage_kinds)
    if (fold.*kind.count > 0)
      text += " " + std::string(kind.word) + " " + std::to_string(fold.*kind.count);
  return text;
}

/// Resources and longest path of some instances.
struct Part {
  Cost cost;
  double ns = 0;
  double mhz() const { return ns > 0 ? 1000 / ns : 0; }
  Part& operator+=(const Part& other) {
    cost += other.cost;
    ns = std::max(ns, other.ns);
    return *this;
  }
};

/// Adds rows to the table and to the info of the pass alike.
class Report {
 public:
  explicit Report(passes::Result& result) : result_(result) {
    result.tables.push_back(
        {"Hardware (predicted)",
         {"Layer", "Module", "Fold", "Interval", "Efficiency", "LUT", "FF", "DSP", "BRAM", "MHz"},
         {},
         "hardware.csv"});
    result.info["layers"] = Tree::list();
  }

  void add(const std::string& layer, const std::string& module, const std::string& fold,
           std::int64_t interval, std::optional<double> efficiency, const Part& part) {
    const Cost& cost = part.cost;
    result_.tables.back().rows.push_back(
        {layer, module, fold, interval ? std::to_string(interval) : "",
         efficiency ? fixed_text(100 * *efficiency, 1) + " %" : "", fixed_text(cost.lut, 0),
         fixed_text(cost.ff, 0), fixed_text(cost.dsp, 0), fixed_text(cost.bram, 1),
         part.ns > 0 ? fixed_text(part.mhz(), 0) : ""});
    Tree entry = cost_tree(cost);
    entry["layer"] = layer;
    entry["module"] = module;
    entry["fold"] = fold;
    entry["interval"] = interval;
    if (efficiency) entry["efficiency"] = *efficiency;
    entry["mhz"] = part.mhz();
    result_.info["layers"].push_back(std::move(entry));
  }

 private:
  passes::Result& result_;
};

/// The parts of every step, by the value it computes, and what lies between the steps. The
/// instances of a step follow each other; the last one gives the value.
void split(const Design& design, const Clock& clock, std::map<integer::ValueId, Part>& own,
           Part& plumbing) {
  Part parts;
  for (std::size_t i = 0; i < design.instances.size(); ++i) {
    const Instance& instance = design.instances[i];
    const Part part{instance_cost(design, instance), clock.instances[i].ns};
    (instance.layer.empty() ? plumbing : parts) += part;
    const integer::ValueId value = design.stream(instance.outputs.at(0)).value;
    if (instance.layer.empty() || value < 0) continue;
    own[value] += parts;
    parts = {};
  }
}

/// The clock, what holds it back, and the frames that follow from it.
void report_clock(const Design& design, const Clock& reached, const Technology& technology,
                  passes::Result& result) {
  const double frames = reached.mhz * 1e6 / static_cast<double>(design.timing.interval);
  result.info["family"] = std::string(technology.name);
  result.info["fmax"] = reached.mhz;
  if (technology.spread > 0)
    result.info["fmax_range"] = Tree::list_of(std::vector{reached.low_mhz, reached.high_mhz});
  result.info["throughput"] = frames;
  if (design.instances.empty()) return;
  const Instance& slowest = design.instances[reached.worst];
  const Slowest& path = reached.instances[reached.worst];
  result.info["slowest"]["instance"] = slowest.name;
  result.info["slowest"]["path"] = std::string(path.what);
  result.text.push_back("predicted clock " + mhz_text(reached) + " for " +
                        std::string(technology.name) + ", " + std::string(technology.grade) + ", " +
                        std::string(technology.basis) + "; held back by '" +
                        std::string(path.what) + "' of " + slowest.name + ": " +
                        fixed_text(frames, 0) + " frames per second");
}

std::optional<double> efficiency_of(const Design& design, const Step& step) {
  const auto products = products_of(*design.program, step, design.folding.at(step.name));
  if (!products) return std::nullopt;
  return products->efficiency(design.timing.interval);
}

void report_efficiency(const Design& design, passes::Result& result) {
  const auto efficiency = slowest_efficiency(design);
  if (!efficiency) return;
  result.info["efficiency"] = *efficiency;
  result.text.push_back("the multipliers of the slowest quarter of the layers are busy in " +
                        fixed_text(100 * *efficiency, 1) + " % of the cycles");
}

/// Reports how far folds that are not known to be the best may be from it.
void report_gap(const Design& design, passes::Result& result) {
  if (!design.gap) return;
  result.info["gap"] = *design.gap;
  result.text.push_back("no other folds within the limits are better by more than " +
                        fixed_text(100 * *design.gap, 1) + " %");
}

/// How far the results of functions in straight pieces are off.
void report_approximations(const Program& program, passes::Result& result) {
  for (const Step& step : program.steps)
    if (const auto found = integer::approximation(step.operation))
      result.text.push_back(step.name + ": " + integer::operation_name(step.operation) + " in " +
                            std::to_string(found->pieces) + " straight pieces, off by at most " +
                            fixed_text(found->largest_error, 3) + " LSB");
}

/// Every step with its parts, the plumbing in one row, and the total.
void report(const Design& design, const Technology& technology, passes::Result& result) {
  const Program& program = *design.program;
  const Clock reached = clock(design, technology);
  Report rows(result);
  Part plumbing;
  std::map<integer::ValueId, Part> own;
  split(design, reached, own, plumbing);
  const Part total{cost(design), reached.mhz > 0 ? 1000 / reached.mhz : 0};
  for (const Step& step : program.steps) {
    const Fold& fold = design.folding.at(step.name);
    const Instance* main = main_instance(design, step);
    rows.add(step.name, main ? main->module.name() : "", fold_text(program, step, fold),
             step_interval(program, step, fold), efficiency_of(design, step), own[step.output]);
  }
  rows.add("between layers", "", "", 0, std::nullopt, plumbing);
  rows.add("total", "", "", design.timing.interval, std::nullopt, total);
  result.info["total"] = cost_tree(total.cost);
  result.info["first"] = design.timing.first;
  result.info["last"] = design.timing.last;
  result.info["interval"] = design.timing.interval;
  result.text.push_back("latency " + std::to_string(design.timing.first) +
                        " cycles to the first, " + std::to_string(design.timing.last) +
                        " to the last output; a frame every " +
                        std::to_string(design.timing.interval) + " cycles");
  report_gap(design, result);
  report_efficiency(design, result);
  report_approximations(program, result);
  report_clock(design, reached, technology, result);
}

}  // namespace

bool AddHardwareMetadata::has_target(const Tree& options) {
  Diagnostics ignored;
  return design::has_target(read_request(options, ignored));
}

void AddHardwareMetadata::check(const Tree& options, Diagnostics& diagnostics) {
  checked_request(options, diagnostics);
}

Tree AddHardwareMetadata::resolve(const Tree& options) {
  Diagnostics ignored;
  const Request request = read_request(options, ignored);
  Tree resolved = write_fields(request.options);
  for (const auto& [node, layer] : request.layers) resolved["layers"][node] = write_fields(layer);
  return resolved;
}

passes::Result AddHardwareMetadata::run(ir::Graph& graph, const Tree& tree,
                                        passes::PassContext& context) {
  Diagnostics diagnostics;
  const Request request = checked_request(tree, diagnostics);
  diagnostics.throw_if_errors();
  const auto contents = request.options.reloadable ? Contents::reloadable : Contents::fixed;
  const auto program = std::make_shared<const Program>(integer::lower(graph, contents));
  const Folding kept = request.options.keep ? folding_of(graph) : Folding();
  Design alone = kept.empty() ? build_for(program, target_of(request)) : build(program, kept);
  const Design& design =
      context.derived.keep(distributed(graph, std::move(alone), request.options));
  const MetadataSettings settings{devices_of_nodes(graph, design), request.options.max_parallelism};
  for (ir::NodeId id : graph.order())
    graph.node(id).meta.hardware = hardware_metadata(graph, graph.node(id), design, settings);
  MASE_CHECK(folding_of(graph) == design.folding && stored_fifos(graph) == fifo_depths(design),
             "add_hardware_metadata: the metadata does not hold the whole design");
  store_timing(graph, design.timing);
  store_contents(graph, contents);
  store_links(graph, design);
  passes::Result result;
  if (!kept.empty()) result.text.emplace_back("the folds are those that the model has");
  const Technology& technology = technology_of(request.options.family);
  context.derived.keep(ClockFamily{technology.name});
  report(design, technology, result);
  report_devices(design, result);
  return result;
}

}  // namespace mase::design
