// SPDX-License-Identifier: Apache-2.0
// The runner: reads options, runs, verifies, times, dumps and checks numerics around every pass.
#include "passes/runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/crash.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"

namespace mase::passes {
namespace {

std::vector<std::string> pass_names(const PassTable& table) {
  std::vector<std::string> names;
  for (const PassRow& row : table) names.emplace_back(row.doc.name);
  return names;
}

void verify_after(const ir::Graph& graph, const std::string& pass) {
  const std::vector<std::string> problems = ir::verify(graph);
  if (problems.empty()) return;
  throw Error(Fault::internal, "pass '" + pass + "' left a broken graph: " + join(problems, "; "));
}

/// The largest absolute difference of two result lists; infinity when they do not correspond.
double max_difference(const ir::Results& before, const ir::Results& after) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (before.size() != after.size()) return infinity;
  double worst = 0;
  for (std::size_t r = 0; r < before.size(); ++r) {
    if (before[r].first != after[r].first || before[r].second.shape() != after[r].second.shape())
      return infinity;
    const Array a = before[r].second.to_float32(), b = after[r].second.to_float32();
    const auto x = a.span<float>(), y = b.span<float>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
      const double difference = std::fabs(double(x[i]) - double(y[i]));
      worst = std::max(worst, std::isnan(difference) ? infinity : difference);
    }
  }
  return worst;
}

/// Runs the probe through the graph before and after passes and compares.
class NumericsCheck {
 public:
  NumericsCheck(const ir::Graph& graph, const PassContext& context, double tolerance)
      : context_(context), tolerance_(tolerance) {
    if (!context.evaluator || context.probe.empty())
      config_error("--check-numerics needs example inputs: give a data set or --input");
    results_ = evaluate(graph);
  }

  double after(const ir::Graph& graph, const PassDoc& doc) {
    ir::Results now = evaluate(graph);
    const double difference = max_difference(results_, now);
    if (difference > doc.tolerance + tolerance_)
      throw Error(Fault::goal, "--check-numerics: pass '" + std::string(doc.name) +
                                   "' changed the results by " + double_text(difference) +
                                   ", declared at most " + double_text(doc.tolerance));
    results_ = std::move(now);
    return difference;
  }

 private:
  ir::Results evaluate(const ir::Graph& graph) {
    return context_.evaluator(graph, ir::Level::quantized)->run(context_.probe);
  }

  const PassContext& context_;
  double tolerance_;
  ir::Results results_;
};

void dump(const ir::Graph& graph, std::size_t index, const std::string& pass,
          const RunOptions& options) {
  const auto wanted = [&](const std::string& name) { return name == "all" || name == pass; };
  if (std::none_of(options.dump_after.begin(), options.dump_after.end(), wanted)) return;
  std::string number = std::to_string(index + 1);
  if (number.size() < 2) number = "0" + number;
  write_file(options.dump_folder + "/" + number + "_" + pass + ".graph.txt", ir::print(graph));
}

Tree history_entry(const PassCall& call, const PassRow& row) {
  Tree entry = Tree::dict();
  entry["pass"] = call.name;
  entry["options"] = row.resolve(call.options);
  return entry;
}

/// Runs one pass; puts its name in front of plain errors and of other libraries' exceptions.
Result run_named(ir::Graph& graph, const PassCall& call, const PassRow& row, PassContext& context) {
  const Running running(Running::Kind::pass, call.name.c_str());
  try {
    return row.run(graph, call.options, context);
  } catch (const DiagnosticsError&) {
    throw;  // its lines already name places
  } catch (const Error& error) {
    throw Error(error.fault(), "pass '" + call.name + "': " + error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    throw Error(Fault::file, "pass '" + call.name + "': '" + error.path1().string() +
                                 "': " + error.code().message());
  } catch (const std::exception& error) {
    throw Error(Fault::internal, "pass '" + call.name + "': " + error.what());
  }
}

/// A pass of the reference system that this program lacks, and what to use instead.
struct AbsentPass {
  std::string_view begin;  ///< the beginning of its name
  std::string_view instead;
};

constexpr AbsentPass absent_passes[] = {
    {"prune", "nothing prunes weights here; scale_channels makes layers narrower"},
    {"add_pruning_metadata", "nothing prunes weights here; scale_channels makes layers narrower"},
    {"onnx", "there is no ONNX here; save_graph writes TorchScript, which PyTorch opens"},
    {"tensorrt", "there is no TensorRT here; quantize and calibrate do what it does before"},
    {"runtime_analysis", "`mase test` and `mase simulate` measure a model"},
    {"training_base_pass", "`mase train` on a quantized checkpoint trains with its formats"},
    {"ann2snn", "there are no spiking networks here"},
    {"logicnets", "there are no LogicNets here; emit makes every layer of integers hardware"},
    {"insert_lora_adapter", "there are no adapters here; `mase train` trains all weights"},
    {"fuse_lora_weights", "there are no adapters here; `mase train` trains all weights"},
    {"run_cosim", "`mase simulate` compares the hardware with the model"},
    {"get_synthesis_results",
     "`mase emit` predicts them, and writes scripts for the vendors' tools"},
    {"verify_", "graphs are verified after every pass"},
};

std::string instead_of(const std::string& pass, const PassTable& table) {
  for (const AbsentPass& row : absent_passes)
    if (pass.starts_with(row.begin)) return ": " + std::string(row.instead);
  return did_you_mean(pass, pass_names(table), "; see `mase list passes`");
}

}  // namespace

void check_calls(const std::vector<PassCall>& calls, const PassTable& table,
                 Diagnostics& diagnostics, const ir::CustomOps& own) {
  for (const PassCall& call : calls) {
    if (const PassRow* row = find_pass(table, call.name)) {
      row->check(call.options, diagnostics, own);
      continue;
    }
    diagnostics.error(call.where,
                      "unknown pass '" + call.name + "'" + instead_of(call.name, table));
  }
}

std::vector<PassReport> run_passes(ir::Graph& graph, const std::vector<PassCall>& calls,
                                   const PassTable& table, PassContext& context,
                                   const RunOptions& options,
                                   const std::function<void(PassReport&)>& done) {
  Diagnostics diagnostics;
  check_calls(calls, table, diagnostics, graph.custom_ops);
  diagnostics.throw_if_errors();
  ir::Graph work = graph;
  context.derived.clear();
  std::optional<NumericsCheck> numerics;
  if (options.check_numerics) numerics.emplace(work, context, *options.check_numerics);
  std::vector<PassReport> reports;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const PassRow& row = *find_pass(table, calls[i].name);
    if (row.doc.kind != PassKind::interface) stop_if_asked();  // not amid files of one checkpoint
    const auto start = std::chrono::steady_clock::now();
    PassReport report{calls[i].name, run_named(work, calls[i], row, context), 0, std::nullopt};
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (report.result.changed || row.doc.kind == PassKind::transform) context.derived.clear();
    if (options.verify_each) verify_after(work, calls[i].name);
    work.history.push_back(history_entry(calls[i], row));
    dump(work, i, calls[i].name, options);
    if (numerics) report.max_difference = numerics->after(work, row.doc);
    if (done) done(report);
    reports.push_back(std::move(report));
  }
  graph = std::move(work);
  return reports;
}

}  // namespace mase::passes
