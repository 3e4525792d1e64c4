// SPDX-License-Identifier: Apache-2.0
// `mase emit` writes a quantized checkpoint as a folder of hardware, and can measure its resources.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "driver/all_passes.hpp"
#include "driver/hardware.hpp"
#include "driver/pages/pass_reports.hpp"
#include "driver/session.hpp"
#include "hardware/design/add_hardware_metadata.hpp"
#include "hardware/emit/families.hpp"
#include "hardware/emit/parts.hpp"
#include "hardware/emit/passes.hpp"
#include "hardware/emit/place.hpp"
#include "hardware/emit/reload_image.hpp"
#include "hardware/emit/synthesise.hpp"
#include "hardware/emit/vivado.hpp"

namespace mase::driver {
namespace {

constexpr std::string_view xilinx_family = "xc7";
constexpr std::string_view metadata_pass = design::AddHardwareMetadata::doc.name;
/// The passes that write a complete folder, in order.
constexpr std::array hardware_passes{metadata_pass, emit::EmitVerilogTop::doc.name,
                                     emit::EmitInternalRtl::doc.name, emit::EmitBram::doc.name,
                                     emit::EmitVerilogTb::doc.name};

bool is_hardware_pass(const std::string& name) {
  return std::find(hardware_passes.begin(), hardware_passes.end(), name) != hardware_passes.end();
}

/// The passes of the configuration, completed by those that it lacks.
std::vector<passes::PassCall> pipeline_of(const Configuration& configuration) {
  std::vector<passes::PassCall> calls;
  for (const passes::PassCall& call : configuration.pipeline)
    if (is_hardware_pass(call.name)) calls.push_back(call);
  for (const std::string_view name : hardware_passes) {
    const bool there = std::any_of(calls.begin(), calls.end(),
                                   [&](const passes::PassCall& call) { return call.name == name; });
    if (!there) calls.push_back({std::string(name), Tree::dict(), {}});
  }
  return calls;
}

void override_options(std::vector<passes::PassCall>& calls, const EmitRequest& request) {
  for (passes::PassCall& call : calls) {
    const Tree& given = call.name == metadata_pass ? request.target : request.output;
    for (const auto& [key, value] : given.as_dict()) call.options[key] = value;
  }
}

const Tree* option_of(const std::vector<passes::PassCall>& calls, std::string_view pass,
                      std::string_view key) {
  for (const passes::PassCall& call : calls)
    if (call.name == pass)
      if (const Tree* value = call.options.find(key)) return value;
  return nullptr;
}

/// The family of --place, or of --synth if that is not the part's own; unset for the part's family.
std::optional<std::string> other_family(const EmitRequest& request) {
  if (request.placement) return request.placement;
  if (request.synthesis && *request.synthesis != xilinx_family) return request.synthesis;
  return std::nullopt;
}

std::string part_of(const std::vector<passes::PassCall>& calls) {
  const Tree* part = option_of(calls, emit::EmitVerilogTop::doc.name, "part");
  return part && part->is_string() ? part->as_string() : emit::EmitOptions().part;
}

std::string dsp_block_of(const std::vector<passes::PassCall>& calls, const EmitRequest& request) {
  const auto family = other_family(request);
  return std::string(family ? emit::family_of(*family).dsp_block
                            : emit::dsp_block_of(part_of(calls)));
}

void set_target(std::vector<passes::PassCall>& calls, const std::string& key, const Tree& value) {
  for (passes::PassCall& call : calls)
    if (call.name == metadata_pass) call.options[key] = value;
}

/// Sets the multipliers (DSP blocks) to those of the device, unless the pass names others.
void choose_dsp_block(std::vector<passes::PassCall>& calls, const EmitRequest& request) {
  if (!option_of(calls, metadata_pass, "dsp_block"))
    set_target(calls, "dsp_block", dsp_block_of(calls, request));
}

/// Sets the delays that decide clock and pipeline stages to those of the part, if one is named.
/// Without a part, and for families whose delays are unknown, the default technology holds, with
/// which a search predicts too.
void choose_family(std::vector<passes::PassCall>& calls, const EmitRequest& request) {
  const bool named = option_of(calls, emit::EmitVerilogTop::doc.name, "part") != nullptr;
  if (!named || other_family(request) || option_of(calls, metadata_pass, "family")) return;
  set_target(calls, "family", std::string(emit::technology_of_part(part_of(calls))));
}

/// Sets the clock to the one that the design is emitted for, unless the pass names another.
void choose_clock(std::vector<passes::PassCall>& calls) {
  const Tree* clock = option_of(calls, emit::EmitVerilogTop::doc.name, "clock_mhz");
  if (clock && !option_of(calls, metadata_pass, "clock_mhz"))
    set_target(calls, "clock_mhz", Tree(*clock));
}

/// Without a target, keeps the folding that the model already has, such as a point of a search.
void keep_folds(std::vector<passes::PassCall>& calls) {
  for (passes::PassCall& call : calls)
    if (call.name == metadata_pass && !call.options.find("keep") &&
        !design::AddHardwareMetadata::has_target(call.options))
      call.options["keep"] = true;
}

std::string number(double value) { return fixed_text(value, value == std::floor(value) ? 0 : 1); }

std::string error_text(double predicted, double measured) {
  if (measured == 0) return predicted == 0 ? "0.0 %" : "-";
  return fixed_text(100 * (predicted - measured) / measured, 1) + " %";
}

/// One row of the comparison of predicted and synthesised resources.
std::vector<std::string> cost_row(const std::string& name, const design::Cost& predicted,
                                  const design::Cost& measured) {
  return {name,
          number(predicted.lut),
          number(measured.lut),
          error_text(predicted.lut, measured.lut),
          number(measured.ff),
          number(measured.carry),
          number(predicted.dsp),
          number(measured.dsp),
          number(predicted.bram),
          number(measured.bram)};
}

void show_paths(const emit::Synthesis& synthesis, Output& output) {
  Tree& document = output.document()["synthesis"];
  if (synthesis.logic_depth) {
    document["logic_depth"] = *synthesis.logic_depth;
    output.text("logic depth " + std::to_string(*synthesis.logic_depth) + " levels");
  }
  if (synthesis.path) {
    const auto& [ns, instance] = *synthesis.path;
    document["longest_path"]["ns"] = ns;
    document["longest_path"]["instance"] = instance;
    output.text("longest path " + fixed_text(ns, 2) + " ns" +
                (instance.empty() ? "" : " in " + instance) + ", before routing");
  }
}

void synthesise(const std::string& folder, const design::Design& design, const EmitRequest& request,
                Output& output) {
  const emit::Synthesis synthesis =
      emit::synthesise(folder, design, *request.synthesis, request.per_instance);
  passes::ReportTable table{"Resources (" + synthesis.family + ")",
                            {"Instance", "LUT predicted", "LUT", "error", "FF", "carry",
                             "DSP predicted", "DSP", "BRAM predicted", "BRAM"},
                            {},
                            ""};
  Tree& document = output.document()["synthesis"];
  const auto predicted = design::cost_by_instance(design);
  for (const auto& [name, measured] : synthesis.instances) {
    table.rows.push_back(cost_row(name, predicted.at(name), measured));
    document["instances"][name] = design::cost_tree(measured);
  }
  table.rows.push_back(cost_row("total", design::cost(design), synthesis.total));
  document["family"] = synthesis.family;
  document["total"] = design::cost_tree(synthesis.total);
  document["predicted"] = design::cost_tree(design::cost(design));
  document["seconds"] = synthesis.seconds;
  output.table(table);
  show_paths(synthesis, output);
  write_file(folder + "/" + emit::synthesis_file, to_json(document) + "\n");
}

double frames_per_second(double mhz, const design::Design& design) {
  return mhz * 1e6 / static_cast<double>(design.timing.interval);
}

/// What was measured, and of which of several devices.
Tree tree_of(const std::string& top, std::optional<int> device_id) {
  Tree tree = Tree::dict();
  if (device_id) tree["device_id"] = *device_id;
  tree["top"] = top;
  return tree;
}

Tree placement_tree(const emit::Placement& placement) {
  Tree tree = tree_of(placement.top, placement.device_id);
  tree["family"] = placement.family;
  tree["device"] = placement.device;
  tree["seed"] = placement.seed;
  tree["target_mhz"] = placement.target_mhz;
  tree["mhz"] = placement.mhz;
  Tree& path = tree["slowest_path"];
  path["from"] = placement.from;
  path["to"] = placement.to;
  path["logic_ns"] = placement.logic;
  path["routing_ns"] = placement.routing;
  for (const auto& [name, slowest] : placement.instances) {
    tree["instances"][name]["ns"] = slowest.ns;
    tree["instances"][name]["at"] = slowest.at;
  }
  for (const auto& [kind, use] : placement.use) {
    tree["use"][kind]["used"] = use.used;
    tree["use"][kind]["available"] = use.available;
  }
  tree["seconds"] = placement.seconds;
  return tree;
}

/// "device0, " of several devices, or "".
std::string on_device(std::optional<int> device_id) {
  return device_id ? emit::device_word(*device_id) + ", " : "";
}

/// What was measured of a design: that of its only device, or `devices` with the clock of the
/// slowest, at which all of them run.
Tree measured_tree(std::vector<Tree> devices, double mhz, const design::Design& design) {
  Tree document = Tree::dict();
  if (devices.size() == 1) {
    document = std::move(devices.front());
  } else {
    document["mhz"] = mhz;
    document["devices"] = Tree::list();
    for (Tree& device : devices) document["devices"].push_back(std::move(device));
  }
  document["frames_per_second"] = frames_per_second(mhz, design);
  return document;
}

/// The instances that limit the clock, slowest first.
passes::ReportTable slowest_table(const emit::Placement& placement) {
  constexpr std::size_t shown = 10;
  std::vector<std::pair<std::string, emit::Placement::Slowest>> rows(placement.instances.begin(),
                                                                     placement.instances.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  if (rows.size() > shown) rows.resize(shown);
  passes::ReportTable table{
      "Slowest paths (" + on_device(placement.device_id) + placement.device + ")",
      {"Instance", "ns", "MHz", "ends at"},
      {},
      ""};
  for (const auto& [name, slowest] : rows)
    table.rows.push_back({name, fixed_text(slowest.ns, 2), fixed_text(1000 / slowest.ns, 0),
                          slowest.at.substr(slowest.at.find('.') + 1)});
  return table;
}

std::string use_text(const emit::Placement& placement) {
  std::vector<std::string> words;
  for (const auto& [kind, use] : placement.use)
    words.push_back(kind + " " + std::to_string(use.used) + " of " + std::to_string(use.available));
  return join(words, ", ");
}

/// All devices have one clock.
void show_slowest(std::size_t devices, double mhz, const design::Design& design, Output& output) {
  if (devices > 1)
    output.text("all devices: " + fixed_text(mhz, 1) + " MHz, " +
                fixed_text(frames_per_second(mhz, design), 0) + " frames per second");
}

void show(const emit::Placement& placement, double frames, Output& output) {
  output.table(slowest_table(placement));
  output.text(use_text(placement));
  output.text(on_device(placement.device_id) + placement.device + ": placed and routed for " +
              fixed_text(placement.mhz, 1) + " MHz (asked " + double_text(placement.target_mhz) +
              "), " + fixed_text(frames, 0) + " frames per second; slowest path " +
              fixed_text(placement.logic + placement.routing, 2) + " ns, of these " +
              fixed_text(placement.routing, 2) + " routing, from " + placement.from + " to " +
              placement.to);
}

void place(const std::string& folder, const Hardware& hardware, const std::string& family,
           std::int64_t seed, Output& output) {
  ProgressLine progress(!output.is_json());
  progress.show("placing and routing for " + family);
  const std::vector<emit::Placement> placements =
      emit::place(folder, hardware.design, family, hardware.options.clock_mhz, seed);
  progress.clear();
  std::vector<Tree> trees;
  for (const emit::Placement& placement : placements) {
    trees.push_back(placement_tree(placement));
    show(placement, frames_per_second(placement.mhz, hardware.design), output);
  }
  const double mhz = std::ranges::min(placements, {}, &emit::Placement::mhz).mhz;
  Tree& document = output.document()["placement"];
  document = measured_tree(std::move(trees), mhz, hardware.design);
  show_slowest(placements.size(), mhz, hardware.design, output);
  write_file(folder + "/" + emit::placement_file, to_json(document) + "\n");
}

Tree implementation_tree(const emit::Implementation& found, const std::string& part) {
  Tree tree = tree_of(found.top, found.device_id);
  tree["part"] = part;
  tree["period_ns"] = found.period;
  tree["slack_ns"] = found.slack;
  tree["mhz"] = found.mhz();
  tree["used"] = design::cost_tree(found.used);
  tree["available"] = design::cost_tree(found.available);
  tree["predicted"] = design::cost_tree(found.predicted);
  return tree;
}

void show(const emit::Implementation& found, double frames, Output& output) {
  passes::ReportTable table{"Implementation (" + on_device(found.device_id) + "Vivado)",
                            {"Resource", "predicted", "used", "available"},
                            {},
                            ""};
  const auto row = [&](const char* name, double design::Cost::*member) {
    table.rows.push_back({name, number(found.predicted.*member), number(found.used.*member),
                          number(found.available.*member)});
  };
  row("LUT", &design::Cost::lut);
  row("FF", &design::Cost::ff);
  row("DSP", &design::Cost::dsp);
  row("BRAM", &design::Cost::bram);
  output.table(table);
  output.text(found.top + ": " + fixed_text(found.mhz(), 1) + " MHz reached (asked " +
              fixed_text(1000 / found.period, 1) + ", slack " + fixed_text(found.slack, 3) +
              " ns), " + fixed_text(frames, 0) + " frames per second");
}

/// Compares clock and resources in Vivado's reports with those predicted for the bare tops.
void implement(const std::string& folder, const Hardware& hardware, const std::string& wrapper,
               Output& output) {
  ProgressLine progress(!output.is_json());
  progress.show("Vivado implements " + hardware.options.part);
  const std::vector<emit::Implementation> found = emit::implement(folder, hardware.design, wrapper);
  progress.clear();
  std::vector<Tree> trees;
  double mhz = found.front().mhz();
  for (const emit::Implementation& one : found) {
    trees.push_back(implementation_tree(one, hardware.options.part));
    mhz = std::min(mhz, one.mhz());
    show(one, frames_per_second(one.mhz(), hardware.design), output);
  }
  Tree& document = output.document()["implementation"];
  document = measured_tree(std::move(trees), mhz, hardware.design);
  show_slowest(found.size(), mhz, hardware.design, output);
  write_file(folder + "/" + emit::implementation_file, to_json(document) + "\n");
}

/// Runs Yosys, nextpnr and Vivado on the folder, which is kept when they are stopped.
void measure(const std::string& folder, const Hardware& hardware, const EmitRequest& request,
             std::int64_t seed, Output& output) {
  try {
    if (request.synthesis) synthesise(folder, hardware.design, request, output);
    if (request.placement) place(folder, hardware, *request.placement, seed, output);
    if (request.vivado) implement(folder, hardware, *request.vivado, output);
  } catch (const Error& error) {
    if (error.fault() != Fault::interrupted) throw;
    throw Error(Fault::interrupted,
                "stopped; the hardware has been written, but no measurements of it");
  }
}

/// Writes only the weights of a checkpoint, for the hardware that is in the folder.
int write_reload_image(const EmitRequest& request) {
  Session session = open_session(request, Project::of_model);
  Output& output = session.output;
  const std::string folder = hardware_folder(session.settings(), std::nullopt);
  const Hardware hardware = reload_hardware(folder, load_quantized(session.configuration));
  keep_inputs({*request.reload_image}, {*session.settings().general.model, folder + "/design.json"},
              "");
  const std::string image = emit::reload_image(hardware.design);
  write_file(*request.reload_image, image);
  output.document()["hardware"] = folder;
  output.document()["reload_image"] = *request.reload_image;
  output.document()["bytes"] = image.size();
  output.text("weights for " + folder + ": " + *request.reload_image + ", " +
              std::to_string(image.size()) + " bytes");
  output.finish();
  return 0;
}

}  // namespace

int emit(const EmitRequest& request) {
  if (request.reload_image) return write_reload_image(request);
  if (request.synthesis) emit::family_of(*request.synthesis);
  if (request.placement) emit::placed_family(*request.placement);
  if (request.vivado) emit::check_wrapper(*request.vivado);
  Session session = open_session(request, Project::of_model);
  Output& output = session.output;
  std::vector<passes::PassCall> calls = pipeline_of(session.configuration);
  override_options(calls, request);
  keep_folds(calls);
  choose_dsp_block(calls, request);
  choose_family(calls, request);
  choose_clock(calls);
  ir::Graph graph = load_quantized(session.configuration);
  if (request.synthesis || request.placement || request.vivado)
    check_external(graph, session.configuration, request);
  else
    warn_of_foreign_files(graph, session.configuration.custom_ops,
                          *session.settings().general.model);
  output.document()["external"] =
      Tree::list_of(foreign_files(graph, session.configuration.custom_ops));
  passes::PassContext context;
  const std::string folder = hardware_folder(session.settings(), std::nullopt);
  const FolderLock lock = lock_project(session, "mase emit");
  context.hardware_folder = folder;
  context.output_folder = session.software_folder() + "/emit";
  output.document()["passes"] = Tree::list();
  passes::run_passes(graph, calls, all_passes(), context, {}, [&](passes::PassReport& report) {
    show_report(report, context.output_folder, {.quiet = request.quiet, .verbose = request.verbose},
                output);
    output.document()["passes"].push_back(report_tree(std::move(report), false));
  });
  output.text("hardware: " + folder);
  output.document()["hardware"] = folder;
  if (request.synthesis || request.placement || request.vivado)
    measure(folder, read_hardware(folder, graph), request, session.settings().train.seed, output);
  output.record(project_folder(session.settings()), "emit");
  output.finish();
  return 0;
}

}  // namespace mase::driver
