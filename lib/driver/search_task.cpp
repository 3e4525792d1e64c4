// SPDX-License-Identifier: Apache-2.0
// Makes the task of a search (model, space, measuring), and turns trials back into files.
#include "driver/search_task.hpp"

#include <algorithm>

#include "backend/backend.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "config/toml.hpp"
#include "driver/all_passes.hpp"
#include "driver/batch_lengths.hpp"
#include "driver/make_evaluator.hpp"
#include "driver/training_rows.hpp"
#include "passes/calibration/known_choices.hpp"
#include "search/workers/allocation.hpp"

namespace mase::driver {
namespace {

using samplers::StudyLength;

/// An entry of [[pass]].
Tree pass_entry(const std::string& name, const Tree& options) {
  Tree entry = Tree::dict();
  entry["run"] = name;
  for (const auto& [key, value] : options.as_dict()) entry[key] = value;
  return entry;
}

bool needs_data(const search::Options& options) {
  const auto rows = search::given_rows(options.runners);
  return !options.needed_programs().empty() ||
         std::any_of(rows.begin(), rows.end(), [](const search::RunnerRow* row) {
           return row->kind == search::RunnerKind::software;
         });
}

Tree dimension_tree(const samplers::Dimension& dimension) {
  Tree tree = samplers::to_tree(dimension.distribution);
  if (dimension.condition) {
    tree["parent"] = dimension.condition->parent;
    tree["when"] = Tree::list_of(dimension.condition->values);
  }
  return tree;
}

/// Sets the number of trials of exhaustive samplers, which reject spaces above the limit.
void limit_trials(search::Options& options, const samplers::Space& space) {
  search::Setup& setup = options.setup;
  if (setup.sampler_row().length != StudyLength::whole_space) return;
  const auto count = samplers::configurations(space);
  if (!count || *count > setup.max_configurations)
    config_error("the space has " + (count ? std::to_string(*count) : "infinitely many") +
                 " configurations, but " + setup.sampler + " tries at most " +
                 std::to_string(setup.max_configurations) +
                 " (search.strategy.setup.max_configurations, --max-configurations)");
  setup.n_trials = static_cast<int>(*count);
}

/// Whether trials start with layers that have new random weights.
bool draws_weights(const search::SearchSpace& space) {
  const auto calls = space.calls(samplers::first_configuration(space.dimensions()));
  return std::any_of(calls.begin(), calls.end(), [](const passes::PassCall& call) {
    const Tree* weights = call.options.find("weights");
    return weights && *weights == Tree("random");
  });
}

}  // namespace

search::Options search_options(const Session& session, const Tree& setup) {
  const Tree* table = session.configuration.sources.file.find("search");
  if (!table)
    config_error(
        "search needs --config FILE.toml with a table [search]; see "
        "configs/examples/jsc_toy_by_type.toml");
  Tree merged = *table;
  for (const auto& [key, value] : setup.as_dict()) merged["strategy"]["setup"][key] = value;
  Diagnostics diagnostics;
  search::Options options =
      search::read_options(merged, diagnostics, session.configuration.metrics);
  diagnostics.throw_if_errors();
  return options;
}

SearchTask::SearchTask(Session& session, search::Options options, const ModelInput& input)
    : session_(session),
      options_(std::move(options)),
      model_(load_session_model(session, input)),
      teacher_(load_teacher(session, input)) {
  if (needs_data(options_)) require_dataset(session);
  for (const search::RunnerRow* row : search::given_rows(options_.runners))
    if (row->needs_labels)
      require_labels(session, "[search.strategy." + row->table() + "]",
                     "the runner output_distance measures");
  if (!model_.example.empty()) backend::open().infer(model_.graph, model_.example);
  prepare();
  group_batches_by_length(session, model_.graph);  // a prepared graph may have one length only
  Diagnostics diagnostics;
  space_ = search::make_space(options_, model_.graph, diagnostics);
  if (options_.runners.hardware && !diagnostics.has_errors())
    space_->check_hardware(model_.graph, options_.runners.hardware->contents(), diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (diagnostic.severity == Severity::warning)
      log::warning(diagnostic.where.text() + ": " + diagnostic.message);
  diagnostics.throw_if_errors();
  limit_trials(options_, space_->dimensions());
  if (options_.setup.enqueues()) search::check_allocation(options_, *space_);
  measurer_ = std::make_unique<search::Measurer>(bench(), options_);
  if (model_.untrained && needs_data(options_) && !measurer_->trains())
    log::warning(
        "the model has random weights, so its accuracy and loss say nothing about a format; "
        "load trained weights with --load FILE (`mase train` writes best.pt)");
  else if (needs_data(options_) && !measurer_->trains() && draws_weights(*space_))
    log::warning(
        "scaled layers get random weights that no trial trains, so accuracy and loss say little; "
        "set weights = \"inherit\" in the setup of the channels, or use the runner basic_train");
  const search::Measured measured = measurer_->baseline(model_.graph);
  for (const Tree* part : {&measured.software, &measured.hardware})
    for (const auto& [metric, value] : part->as_dict()) baseline_[metric] = value;
  require_measured();
  require_buildable();
}

/// Refuses metrics of runners that measure labels which the task of the model does not have.
void SearchTask::require_measured() const {
  if (!measurer_->rows()) return;
  std::vector<std::string> wanted;
  for (const search::Goal& goal : options_.goals) wanted.push_back(goal.metric);
  for (const search::Constraint& constraint : options_.constraints)
    wanted.push_back(constraint.metric);
  for (const std::string& metric : wanted) {
    const search::MetricRow* row = search::find_metric(metric);
    const bool of_labels =
        row && std::ranges::count(row->runners, search::BasicEvaluation::doc.name) > 0;
    const std::string base = metric.starts_with("accuracy_drop") ? "accuracy" : metric;
    if (!of_labels || baseline_.find(base)) continue;
    std::vector<std::string> measured, tasks;
    for (const auto& entry : baseline_.as_dict()) measured.push_back(entry.first);
    for (const data::Target& target : session_.dataset->targets) tasks.push_back(target.task);
    config_error("metric '" + metric + "' is not measured for the task " + join(tasks, ", ") +
                 "; measured are " + join(measured, ", "));
  }
}

/// Tries a few configurations spread over the space until one can be built.
void SearchTask::require_buildable() const {
  const samplers::Space& space = space_->dimensions();
  std::string reason;
  const auto fails = [&](const samplers::Params& params) {
    try {
      const ir::Graph built = measurer_->build(model_.graph, space_->recipe(params));
      if (options_.runners.hardware) integer::lower(built, options_.runners.hardware->contents());
      return false;
    } catch (const Error& error) {
      if (error.fault() == Fault::internal || error.fault() == Fault::interrupted) throw;
      reason = error.what();
      return true;
    }
  };
  if (!fails(samplers::first_configuration(space))) return;
  const std::string first = reason;
  const auto count = samplers::configurations(space);
  if (!count) return;
  const std::int64_t tried = std::min<std::int64_t>(*count, 8);
  for (std::int64_t i = 1; i < tried; ++i) {
    const bool builds = !fails(samplers::configuration_at(space, *count / tried * i));
    if (builds || (reason != first && tried < *count)) return;
  }
  config_error("no trial of this space can be built: " + first);
}

void SearchTask::prepare() {
  std::vector<passes::PassCall> calls;
  Diagnostics diagnostics;
  for (const auto& [name, options] : options_.prepare.as_dict())
    calls.push_back({name, options, options.key_where});
  passes::check_calls(calls, all_passes(), diagnostics, model_.graph.custom_ops);
  diagnostics.throw_if_errors();
  passes::PassContext context;
  context.evaluator = make_evaluator();
  give_data(context);
  passes::run_passes(model_.graph, calls, all_passes(), context, {});
}

void SearchTask::give_data(passes::PassContext& context) const {
  context.probe = model_.example;
  context.probe_is_data = model_.measured;
  if (session_.dataset && model_.graph.placeholders().size() == session_.dataset->inputs.size())
    context.training_rows = training_rows(*session_.dataset, session_.settings().train.batch_size);
}

search::Bench SearchTask::bench() {
  search::Bench bench;
  bench.dataset = session_.dataset ? &*session_.dataset : nullptr;
  bench.evaluator = make_evaluator();
  bench.passes = &all_passes();
  bench.context.evaluator = bench.evaluator;
  give_data(bench.context);
  bench.context.known_choices = std::make_shared<passes::KnownChoices>();
  bench.training = session_.settings().train;
  bench.training.teacher = teacher_;
  bench.train = [this](ir::Graph& graph, const backend::TrainOptions& options, const auto& tell) {
    backend::TrainCallbacks callbacks;
    callbacks.progress = [&](const backend::Progress& progress) {
      if (!progress.validation) return;
      tell(progress.epoch, search::figures_tree(*progress.validation));
    };
    backend::open().train(graph, *session_.dataset, options, callbacks, "");
  };
  return bench;
}

Tree SearchTask::configuration() const {
  Tree out = Tree::dict();
  const Tree* file = session_.configuration.sources.file.find("search");
  const Tree& strategy = file->at("strategy");
  for (const samplers::Dimension& dimension : space_->dimensions())
    out["space"][dimension.name] = dimension_tree(dimension);
  out[search::first_choice_key] =
      space_->sampled_config(samplers::first_configuration(space_->dimensions()));
  for (const char* table : {"metrics", "sw_runner", "hw_runner", "constraints"})
    if (const Tree* found = strategy.find(table)) out[table] = *found;
  for (const search::OwnMetric* metric : options_.needed_own())
    out["own_metrics"][metric->name] = metric->table();
  out["prepare"] = options_.prepare;
  const search::Setup& setup = options_.setup;
  out["deterministic"] = setup.deterministic;
  if (setup.deterministic) out["batch"] = setup.batch;
  out["pruner"] = setup.pruner;
  out["enqueue"] = setup.enqueue;
  out["seed"] = session_.settings().train.seed;
  if (measurer_->trains()) out["train"] = write_fields(session_.settings().train);
  out["model"] = checkpoint::tensor_hash(model_.graph);
  if (session_.dataset) out["dataset"] = session_.dataset->sha256;
  return out;
}

search::Measured SearchTask::measure(const samplers::Params& params, const search::Report& report,
                                     ir::Graph* made) const {
  return (*measurer_)(model_.graph, space_->recipe(params), report, made);
}

search::Plan SearchTask::plan(const std::string& url, const std::string& study) const {
  search::Plan plan;
  plan.options = options_;
  plan.space = space_.get();
  plan.seed = static_cast<std::uint64_t>(session_.settings().train.seed);
  plan.url = url;
  plan.study = study;
  plan.configuration = configuration();
  plan.evaluate = [this](const samplers::Params& params, const search::Report& report) {
    return measure(params, report);
  };
  plan.repeatable = !measurer_->trains();
  plan.gives_up = true;
  return plan;
}

std::string SearchTask::transform_toml(const samplers::Params& params,
                                       const std::string& checkpoint) const {
  Tree settings = model_tree(session_.configuration);
  if (!model_.graph.custom_ops.empty())
    settings["custom_ops"] = write_custom_op_tables(model_.graph.custom_ops);
  Tree passes = Tree::list();
  const search::Recipe recipe = space_->recipe(params);
  if (measurer_->trains()) {
    // Trained weights are not trained again: they are in the checkpoint next to the file.
    settings["load_name"] = checkpoint;
    settings["load_type"] = "mz";
  } else {
    for (const auto& [name, options] : options_.prepare.as_dict())
      passes.push_back(pass_entry(name, options));
    for (const passes::PassCall& call : recipe.calls)
      passes.push_back(pass_entry(call.name, call.options));
  }
  for (const passes::PassCall& call : measurer_->pass_calls(recipe))
    passes.push_back(pass_entry(call.name, call.options));
  settings["pass"] = std::move(passes);
  if (const search::BasicEvaluation* rows = measurer_->rows())
    settings["transform"]["evaluate"] = write_fields(*rows);
  return config::to_toml(settings);
}

}  // namespace mase::driver
