// SPDX-License-Identifier: Apache-2.0
// Each pass writes files of the design that the graph and its metadata stand for.
#include "hardware/emit/passes.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "hardware/design/add_hardware_metadata.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/design_of.hpp"
#include "hardware/emit/design_json.hpp"
#include "hardware/emit/parts.hpp"
#include "hardware/emit/text/devices.hpp"
#include "ir/text.hpp"

namespace mase::emit {
namespace {

using passes::PassContext;
using passes::Result;

design::Design named(design::Design design, const EmitPassOptions& options) {
  if (!options.top_name.empty()) design.name = options.top_name;
  return design;
}

/// The design's vectors, made once in a pipeline.
struct KeptVectors {
  Files files;
};

const Files& vectors_of(const design::Design& design, PassContext& context) {
  if (const auto* kept = context.derived.find<KeptVectors>()) return kept->files;
  return context.derived.keep(KeptVectors{vector_files(design)}).files;
}

void require_folder(const PassContext& context) {
  if (context.hardware_folder.empty())
    config_error("there is no hardware folder to write to; use `mase emit`");
}

Result names_of_files(const Files& files) {
  Result result;
  result.info["files"] = Tree::list();
  for (const auto& [name, content] : files) result.info["files"].push_back(name);
  result.text.push_back(counted(files.size(), "file"));
  return result;
}

Result write(const Files& files, const PassContext& context) {
  require_folder(context);
  write_files(context.hardware_folder, files);
  return names_of_files(files);
}

/// What an earlier emission into the folder says; nothing when there is none or it is damaged.
EmittedDesign emitted_design(const std::string& folder) {
  const std::string path = folder + "/design.json";
  if (!file_exists(path)) return {};
  try {
    return read_design_json(read_file(path), path);
  } catch (const Error&) {
    return {};
  }
}

/// Removes what `before` lists and `now` does not: a folder holds one design.
void remove_stale(const std::string& folder, const EmittedDesign& before,
                  const EmittedDesign& now) {
  if (now.files.empty()) return;
  for (const std::string& file : before.files)
    if (std::find(now.files.begin(), now.files.end(), file) == now.files.end())
      remove_file(folder + "/" + file);
}

/// Whether design.json is there and says just this.
bool tells(const std::string& folder, const std::string& design_json) {
  const std::string path = folder + "/design.json";
  return file_exists(path) && read_file(path) == design_json;
}

void remove_measured(const std::string& folder) {
  for (const char* file : {synthesis_file, placement_file, implementation_file})
    remove_file(folder + "/" + file);
}

/// design.json comes last, when the files that only an earlier one listed are gone: after an error
/// in between the next emission still knows them.
Result write_top(Files files, const PassContext& context) {
  require_folder(context);
  const std::string& folder = context.hardware_folder;
  const EmittedDesign before = emitted_design(folder);
  const bool same = tells(folder, files.at("design.json"));
  Result result = names_of_files(files);
  Files last;
  last.insert(files.extract("design.json"));
  write_files(folder, files);
  if (!same) remove_measured(folder);
  remove_stale(folder, before, read_design_json(last.at("design.json"), folder + "/design.json"));
  write_files(folder, last);
  return result;
}

/// How much of its part a device's share takes, and what would hold it when it does not fit.
std::string add_use(const DeviceScope& scope, const design::Cost& cost, const Device& device,
                    Result& result) {
  const std::string use = (scope.word.empty() ? "" : scope.word + ": ") + use_text(device, cost);
  result.text.push_back(use);
  if (holds(device, cost)) return use;
  const std::vector<std::string> others = devices_for(cost, 4);
  result.notes.push_back("the design is larger than its part: " + use + "; " +
                         (others.empty() ? "no device that is known holds it"
                                         : "devices that hold it: " + join(others, ", ")) +
                         ". Give --part, or fold it with --ii, --lut, --dsp or --bram");
  return use;
}

/// That of every device. Said only where the part is of the family whose clock was predicted: one
/// report is about one kind of device.
void add_uses(const design::Design& design, const Device& device, Result& result) {
  std::vector<std::string> uses;
  for (const DeviceScope& scope : device_scopes(design, names_of(design)))
    uses.push_back(add_use(scope, design::device_cost(design, scope.device), device, result));
  result.info["use"] = join(uses, "; ");
}

}  // namespace

Result EmitVerilogTop::run(ir::Graph& graph, const Options& options, PassContext& context) {
  const Device& device = device_of(options.part);
  const design::Design& design = design::design_of(graph, context);
  Files files = top_files(named(design, options), options, vectors_of(design, context));
  files["graph.txt"] = ir::print(graph);
  Result result = write_top(std::move(files), context);
  const auto* family = context.derived.find<design::ClockFamily>();
  if (!family || family->name == technology_of_part(options.part)) add_uses(design, device, result);
  return result;
}

Result EmitInternalRtl::run(ir::Graph& graph, const Options& options, PassContext& context) {
  return write(module_files(named(design::design_of(graph, context), options)), context);
}

Result EmitBram::run(ir::Graph& graph, const Options& options, PassContext& context) {
  return write(memory_files(named(design::design_of(graph, context), options)), context);
}

Result EmitVerilogTb::run(ir::Graph& graph, const Options& options, PassContext& context) {
  Options known = options;
  if (known.top_name.empty()) known.top_name = emitted_design(context.hardware_folder).name;
  const design::Design& design = design::design_of(graph, context);
  return write(bench_files(named(design, known), vectors_of(design, context)), context);
}

}  // namespace mase::emit
