// SPDX-License-Identifier: Apache-2.0
// Builds and runs mutants of the SystemVerilog.
#include "hardware/emit/rtl_mutants.hpp"

#include <optional>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "driver/mutants.hpp"
#include "hardware/emit/build.hpp"

namespace mase::driver {
namespace {

/// Maximum number of rejected and equivalent mutants per mutant that is run.
constexpr std::int64_t most_redrawn = 20;

/// A hash of the C++ that Verilator makes from the folder's RTL; unset if Verilator or the compiler
/// rejects it.
std::optional<std::string> model_of(const std::string& folder,
                                    const emit::SimulateOptions& options) {
  try {
    return emit::build_bench(folder, {options.trace, options.coverage, options.optimise}).model;
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    return std::nullopt;
  }
}

/// Whether the vectors detect the mutant. A simulation that aborts counts as detected.
bool is_caught(const Hardware& hardware, const std::string& folder, const emit::Vectors& vectors,
               const emit::SimulateOptions& options) {
  try {
    return !emit::simulate(folder, hardware.design, vectors, options).passed();
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    return true;
  }
}

Tree tree_of(const emit::RtlMutant& mutant) {
  Tree tree = Tree::dict();
  tree["file"] = mutant.file;
  tree["line"] = mutant.line;
  tree["before"] = mutant.before;
  tree["after"] = mutant.after;
  return tree;
}

}  // namespace

int run_rtl_mutants(const Hardware& hardware, const emit::Vectors& vectors,
                    const emit::SimulateOptions& options, std::int64_t count, Output& output) {
  emit::RtlMutants mutants(hardware.folder);
  if (mutants.none()) config_error("the design has no operator to change");
  emit::SimulateOptions quick = options;
  quick.optimise = 0;
  const auto sound = model_of(mutants.folder(), quick);
  Random random(options.seed);
  ProgressLine progress(true);
  passes::ReportTable passed{
      "Changes of the RTL that no beat reveals", {"File", "Line", "Before", "After"}, {}, ""};
  Tree& document = output.document()["rtl_mutants"];
  std::int64_t run = 0, refused = 0, same = 0;
  while (run < count && refused + same < most_redrawn * count) {
    stop_if_asked();
    progress.show("mutant " + std::to_string(run + 1) + " of " + std::to_string(count));
    const emit::RtlMutant mutant = mutants.draw(random);
    const auto model = model_of(mutants.folder(), quick);
    if (!model || model == sound) {
      ++(model ? same : refused);
      continue;
    }
    ++run;
    if (is_caught(hardware, mutants.folder(), vectors, quick)) continue;
    passed.rows.push_back({mutant.file, std::to_string(mutant.line), mutant.before, mutant.after});
    document["passed"].push_back(tree_of(mutant));
  }
  progress.clear();
  const auto caught = run - static_cast<std::int64_t>(passed.rows.size());
  document["run"] = run;
  document["caught"] = caught;
  document["refused"] = refused;
  document["same"] = same;
  if (!passed.rows.empty()) output.table(passed);
  output.text(std::to_string(run) + " changes of the RTL, " + std::to_string(caught) +
              " caught; not counted: " + std::to_string(refused) + " that Verilator rejects, " +
              std::to_string(same) + " that change nothing in this design");
  output.finish();
  return 0;
}

}  // namespace mase::driver
