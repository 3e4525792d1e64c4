// SPDX-License-Identifier: Apache-2.0
// Turns checkpoints into designs, and checks that an emitted folder matches its checkpoint.
#include "driver/hardware.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/loading/sources.hpp"
#include "driver/project.hpp"
#include "hardware/design/design_of.hpp"
#include "hardware/emit/design_json.hpp"
#include "hardware/emit/reload_image.hpp"
#include "ir/text.hpp"

namespace mase::driver {
namespace {

/// Describes the first line in which two graphs differ; empty if they are equal.
std::string difference(const ir::Graph& graph, const ir::Graph& emitted) {
  const std::vector<std::string> here = split(ir::print(graph, {.metadata = false}), '\n'),
                                 there = split(ir::print(emitted, {.metadata = false}), '\n');
  const auto line = [](const std::vector<std::string>& lines, std::size_t i) {
    return i < lines.size() ? "'" + std::string(trim(lines[i])) + "'" : std::string("nothing");
  };
  for (std::size_t i = 0; i < std::max(here.size(), there.size()); ++i)
    if (line(here, i) != line(there, i))
      return "line " + std::to_string(i + 1) + " of the graph is " + line(here, i) + ", that of " +
             "the hardware " + line(there, i);
  return "";
}

/// Copies the hardware metadata from the graph that was emitted, which must be the same graph.
void adopt_metadata(ir::Graph& graph, ir::Graph emitted, const std::string& folder) {
  emitted.history = graph.history;
  emitted.source = graph.source;  // which names the model's folder, which may have been moved
  const std::string found = difference(graph, emitted);
  if (!found.empty())
    file_error(folder + " was emitted from another checkpoint; run mase emit again (" + found +
               ")");
  for (ir::NodeId id : graph.order()) {
    ir::Node& node = graph.node(id);
    node.meta.hardware = emitted.find_node(node.name)->meta.hardware;
  }
}

emit::EmittedDesign read_design(const std::string& folder) {
  const std::string path = folder + "/design.json";
  if (!file_exists(path))
    file_error(folder + ": no hardware has been emitted here; run mase emit first, or name the " +
               "folder with --hardware or --project-dir and --project");
  return emit::read_design_json(read_file(path), path);
}

std::string stored(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  if (!file_exists(path)) file_error(path + " is missing; run mase emit again");
  return read_file(path);
}

/// Reads the test vectors in the folder. design.json has their hashes.
emit::Files stored_vectors(const std::string& folder, const design::Design& design) {
  emit::Files vectors;
  for (const std::string& name : emit::vector_names(design)) vectors[name] = stored(folder, name);
  return vectors;
}

bool is_code(const std::string& name) {
  return std::ranges::any_of(std::array{".sv", ".cpp", ".hpp", ".c", ".h", ".f"},
                             [&](const char* ending) { return name.ends_with(ending); });
}

void check_files(const std::string& folder, const emit::Files& files, bool code_only = false) {
  for (const auto& [name, content] : files) {
    if (code_only && !is_code(name)) continue;
    if (stored(folder, name) != content)
      file_error(folder + "/" + name + " does not match this checkpoint; run mase emit again");
  }
}

}  // namespace

std::string hardware_folder(const Settings& settings, const std::optional<std::string>& given) {
  return given ? *given : project_folder(settings) + "/hardware";
}

ir::Graph load_quantized(const Configuration& configuration) {
  const std::string& path = *configuration.settings.general.model;
  if (!file_exists(path) || (std::filesystem::is_directory(path) && !is_quantized_folder(path)))
    file_error(path + (file_exists(path) ? ": a folder, but no project's" : ": no such file") +
               "; give the project of a mase transform, or its checkpoint (" + "PROJECT/" +
               std::string(transformed_checkpoint) + ")");
  ir::Graph graph = load_checkpoint(path).graph;
  if (may_be_checkpoint(path)) checkpoint::check_codes(path, graph);
  check_custom_ops(graph, configuration.custom_ops, path);
  return graph;
}

void check_external(const ir::Graph& graph, const Configuration& configuration,
                    const HardwareRequest& request) {
  if (!request.allow_external)
    refuse_foreign_files(graph, configuration.custom_ops,
                         configuration.settings.general.model.value_or("the model"));
}

Hardware read_hardware(const std::string& folder, ir::Graph graph) {
  const emit::EmittedDesign emitted = read_design(folder);
  const std::string text = folder + "/graph.txt";
  adopt_metadata(graph, ir::parse(read_file(text), text), folder);
  Hardware hardware{folder, design::design_of(graph), emitted.options};
  hardware.design.name = emitted.name;
  return hardware;
}

Hardware reload_hardware(const std::string& folder, ir::Graph graph) {
  Hardware hardware = read_hardware(folder, std::move(graph));
  if (!hardware.design.reloadable)
    config_error(folder + ": the weights cannot be replaced; emit it with --reloadable");
  emit::check_same_hardware(folder, hardware.design, hardware.options);
  return hardware;
}

Hardware open_reload_hardware(const std::string& folder, ir::Graph graph) {
  Hardware hardware = reload_hardware(folder, std::move(graph));
  check_files(folder, emit::all_files(hardware.design, hardware.options, {}), true);
  return hardware;
}

Hardware open_hardware(const std::string& folder, ir::Graph graph) {
  Hardware hardware = read_hardware(folder, std::move(graph));
  check_files(folder, emit::all_files(hardware.design, hardware.options,
                                      stored_vectors(folder, hardware.design)));
  return hardware;
}

}  // namespace mase::driver
