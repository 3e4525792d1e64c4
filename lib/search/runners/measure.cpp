// The runners: evaluation and training for the software metrics, passes for the others.
#include "search/runners/measure.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "data/metrics.hpp"

namespace mase::search {
namespace {

constexpr std::int64_t batch_rows = 512;

data::Part part_of(const std::string& loader) {
  if (loader == "train_dataloader") return data::Part::train;
  return loader == "test_dataloader" ? data::Part::test : data::Part::validation;
}

}  // namespace

std::vector<data::Batch> gather_rows(const data::Dataset& dataset, const BasicEvaluation& rows_of) {
  const std::vector<std::int64_t>& rows = dataset.rows(part_of(rows_of.data_loader));
  const auto there = static_cast<std::int64_t>(rows.size());
  const std::int64_t wanted = rows_of.num_samples.value_or(static_cast<int>(there));
  if (wanted > there)
    log::warning("num_samples = " + std::to_string(wanted) + ": the " + rows_of.data_loader +
                 " of '" + dataset.name + "' has " + std::to_string(there) +
                 " rows, all of them are used");
  const std::int64_t total = std::min(wanted, there);
  std::vector<data::Batch> batches;
  for (std::int64_t first = 0; first < total; first += batch_rows)
    batches.push_back(dataset.batch(rows, first, std::min(batch_rows, total - first)));
  return batches;
}

data::Scores score(ir::Evaluator& evaluator, const std::vector<data::Batch>& batches,
                   std::int64_t classes) {
  data::ScoreCounter counter(classes);
  for (const data::Batch& batch : batches)
    counter.add(evaluator.run({batch.inputs}).front().second, batch.labels);
  return counter.scores();
}

Tree scores_tree(const data::Scores& scores) {
  Tree tree = Tree::dict();
  tree["accuracy"] = scores.accuracy;
  tree["loss"] = scores.loss;
  tree["macro_accuracy"] = scores.macro_accuracy;
  return tree;
}

Measurer::Measurer(Bench bench, const Options& options)
    : bench_(std::move(bench)), options_(options) {
  const Runners& runners = options.runners;
  if (!runners.evaluation && !runners.training) return;
  batches_ = runners.evaluation ? gather_rows(*bench_.dataset, *runners.evaluation)
                                : gather_rows(*bench_.dataset, {runners.training->data_loader, {}});
}

Tree Measurer::scores(const ir::Graph& graph, ir::Level level) const {
  return scores_tree(score(*bench_.evaluator(graph, level), batches_, bench_.dataset->classes()));
}

Measured Measurer::baseline(const ir::Graph& graph) {
  Measured measured;
  if (!batches_.empty()) {
    measured.software = scores(graph, ir::Level::floating);
    baseline_accuracy_ = measured.software.at("accuracy").as_double();
  }
  // A float model has no datapath, so the hardware runner has nothing to say of it.
  ir::Graph copy = graph;
  if (options_.runners.bits) measured.hardware["average_bitwidth"] = average_bits(copy);
  return measured;
}

Measured Measurer::operator()(const ir::Graph& graph, const std::vector<passes::PassCall>& calls,
                              const Report& report, ir::Graph* made) const {
  ir::Graph copy = graph;
  for (const passes::PassCall& call : calls) run_pass(call.name.c_str(), call.options, copy);
  if (options_.runners.training) train(copy, report);
  Measured measured;
  if (!batches_.empty()) {
    measured.software = scores(copy, ir::Level::quantized);
    measured.software["accuracy_drop"] =
        100 * (*baseline_accuracy_ - measured.software.at("accuracy").as_double());
  }
  measured.hardware = hardware(copy);
  if (made) *made = std::move(copy);
  return measured;
}

/// With one objective that training validates, every epoch is reported, so that pruners can look.
void Measurer::train(ir::Graph& graph, const Report& report) const {
  const Goal& goal = options_.goals.front();
  bench_.train(graph, *options_.runners.training, [&](std::int64_t epoch, const Tree& validation) {
    const Tree* value = validation.find(goal.metric);
    if (value && options_.goals.size() == 1) report(epoch, goal.scale * value->as_double());
  });
}

Tree Measurer::run_pass(const char* name, const Tree& options, ir::Graph& graph) const {
  const passes::PassRow* row = passes::find_pass(*bench_.passes, name);
  MASE_CHECK(row, std::string("no pass ") + name);
  passes::PassContext context = bench_.context;
  return row->run(graph, options, context).info;
}

double Measurer::average_bits(ir::Graph& graph) const {
  const Tree info = run_pass("average_bits", options_.runners.bits->pass_options(), graph);
  return info
      .at(options_.runners.bits->activations ? "average_bitwidth_with_activations"
                                             : "average_bitwidth")
      .as_double();
}

Tree Measurer::hardware(ir::Graph& graph) const {
  const Runners& runners = options_.runners;
  Tree values = Tree::dict();
  if (runners.bits) {
    values["average_bitwidth"] = average_bits(graph);
    values["memory_density"] = runners.bits->compare_to / values.at("average_bitwidth").as_double();
  }
  if (runners.operations) {
    const Tree info = run_pass("count_operations", Tree::dict(), graph);
    for (const char* metric : {"parameters", "macs", "flops", "bitops"})
      values[metric] = info.at(metric);
  }
  if (runners.hardware) {
    const Tree info = run_pass("add_hardware_metadata", *runners.hardware, graph);
    values["latency"] = info.at("last");
    values["initiation_interval"] = info.at("interval");
    for (const char* metric : {"lut", "ff", "dsp", "bram"})
      values[metric] = info.at("total").at(metric);
  }
  return values;
}

}  // namespace mase::search
