// SPDX-License-Identifier: Apache-2.0
// Synthesis by Yosys: the whole top, and every different instance in a top of its own.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/process.hpp"
#include "hardware/emit/run_folder.hpp"
#include "hardware/emit/scripts.hpp"
#include "hardware/emit/top.hpp"
#include "hardware/emit/yosys_stat.hpp"

namespace mase::emit {
namespace {

namespace fs = std::filesystem;

constexpr double synthesis_seconds = 4 * 3600;

/// The command of a family, and the cells between registers, DSP blocks and block memories.
struct FamilyRow {
  std::string name, command, logic;
};
const std::vector<FamilyRow> families = {
    {"xc7", synthesise_xc7, "t:LUT* t:CARRY4 t:MUXF7 t:MUXF8 t:INV"},
    {"ice40", "synth_ice40 -dsp", "t:SB_LUT4 t:SB_CARRY"},
    {"ecp5", "synth_ecp5", "t:LUT4 t:CCU2C t:L6MUX21 t:PFUMX"}};

const FamilyRow& family_row(const std::string& name) {
  const auto it = std::find_if(families.begin(), families.end(),
                               [&](const FamilyRow& row) { return row.name == name; });
  if (it != families.end()) return *it;
  std::vector<std::string> names;
  for (const FamilyRow& row : families) names.push_back(row.name);
  config_error("Yosys is asked for family '" + name + "'; known are " + join(names, ", "));
}

struct Measured {
  design::Cost cost;
  std::optional<std::int64_t> depth;
};

/// Runs Yosys on the folder's sources and `extra`. Sources are read deferred: a memory without its
/// file name cannot be elaborated. They are named relative to the folder, where Yosys finds images.
Measured run_yosys(const std::string& folder, const FamilyRow& family, const std::string& top,
                   const std::string& extra) {
  const RunFolder run;
  std::string sources = replace_all(read_file(folder + "/filelist.f"), "\n", " ");
  if (!extra.empty()) {
    write_file(run.file(top + ".sv"), extra);
    sources += run.file(top + ".sv");
  }
  const std::string script = "read_verilog -sv -defer " + sources + "; hierarchy -check -top " +
                             top + "; " + family.command + "; tee -q -o " + run.file("stat.json") +
                             " stat -json; tee -q -o " + run.file("ltp.txt") + " ltp -noff w:* " +
                             family.logic;
  run_checked({"yosys", "-q", "-p", script}, {folder, synthesis_seconds, {}}, "synthesis by Yosys");
  return {cost_of_stat(read_file(run.file("stat.json")), top, family.name),
          depth_of_ltp(read_file(run.file("ltp.txt")))};
}

/// A design of one instance, its streams at the border.
design::Design alone(const design::Design& design, const design::Instance& instance) {
  design::Design out;
  out.name = "alone";
  design::Instance copy = instance;
  copy.name = "instance_alone";
  const auto take = [&](std::vector<design::StreamId>& ids, std::vector<design::StreamId>& border,
                        const std::string& name) {
    for (design::StreamId& id : ids) {
      design::Stream stream = design.stream(id);
      stream.name = name + std::to_string(border.size());
      id = static_cast<design::StreamId>(out.streams.size());
      out.streams.push_back(std::move(stream));
      border.push_back(id);
    }
  };
  take(copy.inputs, out.inputs, "in");
  take(copy.outputs, out.outputs, "out");
  out.instances.push_back(std::move(copy));
  return out;
}

}  // namespace

Synthesis synthesise(const std::string& hardware_folder, const design::Design& design,
                     const std::string& family, bool per_instance) {
  const FamilyRow& row = family_row(family);
  const auto start = std::chrono::steady_clock::now();
  const std::string folder = fs::absolute(hardware_folder).string();
  const Measured total = run_yosys(folder, row, names_of(design).top, "");
  Synthesis synthesis;
  synthesis.family = family;
  synthesis.total = total.cost;
  synthesis.logic_depth = total.depth;
  std::map<std::string, design::Cost> known;  // by text: equal instances are synthesised once
  if (per_instance)
    for (const design::Instance& instance : design.instances) {
      const design::Design one = alone(design, instance);
      const Names names = names_of(one);
      const std::string text = top_text(one, names);
      if (!known.contains(text)) known[text] = run_yosys(folder, row, names.top, text).cost;
      synthesis.instances[instance.name] = known[text];
    }
  synthesis.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return synthesis;
}

}  // namespace mase::emit
