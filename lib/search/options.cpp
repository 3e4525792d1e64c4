// Reading `[search]`: one function per table.
#include "search/options.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/design/add_hardware_metadata.hpp"
#include "search/spaces/search_space.hpp"

namespace mase::search {
namespace {

struct SpaceTable {
  std::string name{space_table().front().name};
  static auto fields() {
    return std::tuple{
        one_of_names(Field{"name", &SpaceTable::name, "search space"}, space_names())};
  }
};
struct Strategy {
  std::string name = "optuna";
  bool eval_mode = true;
  std::vector<std::string> constraints;
  static constexpr auto fields() {
    return std::tuple{
        Field{"name", &Strategy::name, "strategy"}.one_of("optuna"),
        Field{"eval_mode", &Strategy::eval_mode, "evaluate without gradients"},
        Field{"constraints", &Strategy::constraints, "bounds such as \"accuracy_drop <= 1.0\""}};
  }
};
struct GoalTable {
  double scale = 1.0;
  std::string direction = "maximize";
  static constexpr auto fields() {
    return std::tuple{
        Field{"scale", &GoalTable::scale, "factor of the metric"},
        Field{"direction", &GoalTable::direction, "better is"}.one_of("maximize", "minimize")};
  }
};
struct Nothing {
  static constexpr auto fields() { return std::tuple{}; }
};

Direction direction_of(const std::string& name) {
  return name == "minimize" ? Direction::minimize : Direction::maximize;
}

/// The sub-table `key`, with a diagnostic when it is missing or no table.
const Tree* table_of(const Tree& parent, const std::string& key, Diagnostics& diagnostics) {
  const Tree* table = parent.find(key);
  if (table && table->is_dict()) return table;
  diagnostics.error(table ? table->where : parent.where,
                    "the search needs a table '" + key + "' here");
  return nullptr;
}

template <class T>
T read(const Tree& table, Diagnostics& diagnostics, const std::vector<std::string>& others = {}) {
  T out;
  read_fields(table, out, diagnostics, others);
  return out;
}

/// The reference's runner reads `dataloader`, its files say `data_loader`; both are understood.
template <class T>
T read_runner(const Tree& table, Diagnostics& diagnostics) {
  Tree copy = table;
  if (table.is_dict())
    for (auto& [key, entry] : copy.as_dict())
      if (key == "dataloader") key = "data_loader";
  return read<T>(copy, diagnostics);
}

void read_runner_tables(const Tree& strategy, Runners& runners, Diagnostics& diagnostics) {
  const auto each = [&](const char* kind, const std::vector<std::string>& names, auto&& take) {
    const Tree* tables = strategy.find(kind);
    if (!tables || !tables->is_dict()) return;
    for (const auto& [name, table] : tables->as_dict()) {
      report_unknown_key(table, name, names, diagnostics);
      take(name, table);
    }
  };
  each("sw_runner", {"basic_evaluation", "basic_train"},
       [&](const std::string& name, const Tree& table) {
         if (name == "basic_evaluation")
           runners.evaluation = read_runner<BasicEvaluation>(table, diagnostics);
         if (name == "basic_train") runners.training = read_runner<BasicTrain>(table, diagnostics);
       });
  each("hw_runner", {"average_bitwidth", "count_operations", "hardware"},
       [&](const std::string& name, const Tree& table) {
         if (name == "average_bitwidth") runners.bits = read<AverageBitwidth>(table, diagnostics);
         if (name == "count_operations") {
           read<Nothing>(table, diagnostics);
           runners.operations = true;
         }
         if (name == "hardware") {
           design::AddHardwareMetadata::check(table, diagnostics);
           runners.hardware = table;
         }
       });
  if (runners.evaluation && runners.training)
    diagnostics.error(strategy.where,
                      "give basic_evaluation or basic_train, not both: both measure the accuracy");
}

bool delivers(const Runners& runners, std::string_view runner) {
  if (runner == "basic_evaluation") return runners.evaluation.has_value();
  if (runner == "basic_train") return runners.training.has_value();
  if (runner == "average_bitwidth") return runners.bits.has_value();
  if (runner == "count_operations") return runners.operations;
  return runners.hardware.has_value();
}

void check_delivered(const Runners& runners, const std::string& metric, const SourceLocation& where,
                     Diagnostics& diagnostics) {
  const MetricRow* row = find_metric(metric);
  if (!row) return;
  const auto given = [&](std::string_view runner) { return delivers(runners, runner); };
  if (std::any_of(row->runners.begin(), row->runners.end(), given)) return;
  diagnostics.error(where, "no runner delivers the metric '" + metric +
                               "'; add a table [search.strategy." +
                               (row->software ? "sw_runner." : "hw_runner.") +
                               std::string(row->runners.front()) + "]");
}

void read_goals(const Tree& metrics, Options& options, Diagnostics& diagnostics) {
  for (const auto& [name, table] : metrics.as_dict()) {
    report_unknown_key(table, name, metric_names(), diagnostics);
    const auto goal = read<GoalTable>(table, diagnostics);
    options.goals.push_back({name, goal.scale, direction_of(goal.direction)});
    check_delivered(options.runners, name, table.key_where, diagnostics);
  }
  std::sort(options.goals.begin(), options.goals.end(),
            [](const Goal& a, const Goal& b) { return a.metric < b.metric; });
  if (options.goals.empty())
    diagnostics.error(metrics.where, "the search needs a metric: metrics.NAME.direction = ...");
}

void read_setup(const Tree& table, Options& options, Diagnostics& diagnostics) {
  read_fields(table, options.setup, diagnostics, {"sampler_options", "pruner_options"});
  const Setup& setup = options.setup;
  if (setup.pkl_ckpt)
    diagnostics.error(table.at("pkl_ckpt").where,
                      "pickled studies are not read; name the database with storage = "
                      "\"sqlite:///FILE\", from which a study goes on by itself");
  if (setup.sum_scaled_metrics && !setup.direction)
    diagnostics.error(table.where,
                      "sum_scaled_metrics needs direction = \"minimize\" or "
                      "\"maximize\" for the sum");
  if (const Tree* given = table.find("sampler_options")) options.sampler_options = *given;
  if (const samplers::SamplerRow* row = samplers::find_sampler(setup.sampler))
    row->check(options.sampler_options, diagnostics);
  if (const Tree* given = table.find("pruner_options"))
    read_fields(*given, options.pruner, diagnostics);
}

/// A pruner looks at what training reports, which has to be the one objective.
void check_pruner(const Options& options, const SourceLocation& where, Diagnostics& diagnostics) {
  if (!options.setup.prunes()) return;
  const bool reported = options.goals.size() == 1 && (options.goals.front().metric == "accuracy" ||
                                                      options.goals.front().metric == "loss");
  if (!reported || !options.runners.training)
    diagnostics.error(where,
                      "a pruner needs the runner basic_train and accuracy or loss as the "
                      "only metric, which training reports after every epoch");
}

void read_strategy(const Tree& table, Options& options, Diagnostics& diagnostics) {
  const auto strategy =
      read<Strategy>(table, diagnostics, {"setup", "sw_runner", "hw_runner", "metrics"});
  if (const Tree* setup = table_of(table, "setup", diagnostics))
    read_setup(*setup, options, diagnostics);
  read_runner_tables(table, options.runners, diagnostics);
  if (const Tree* metrics = table_of(table, "metrics", diagnostics))
    read_goals(*metrics, options, diagnostics);
  check_pruner(options, table.where, diagnostics);
  const Tree* texts = table.find("constraints");
  for (std::size_t i = 0; i < strategy.constraints.size(); ++i) {
    const SourceLocation& where = texts->as_list()[i].where;
    if (auto constraint = parse_constraint(strategy.constraints[i], where, diagnostics)) {
      check_delivered(options.runners, constraint->metric, where, diagnostics);
      options.constraints.push_back(*constraint);
    }
  }
}

void read_space(const Tree& table, Options& options, Diagnostics& diagnostics) {
  options.space = read<SpaceTable>(table, diagnostics, {"setup", "seed"}).name;
  options.where = table.where;
  if (const Tree* setup = table_of(table, "setup", diagnostics))
    read_fields(*setup, options.space_setup, diagnostics);
  if (const Tree* seed = table_of(table, "seed", diagnostics)) options.seed = *seed;
}

}  // namespace

bool Setup::enqueues() const {
  return enqueue != none || sampler_row().length == samplers::StudyLength::as_enqueued;
}

const samplers::SamplerRow& Setup::sampler_row() const {
  const samplers::SamplerRow* row = samplers::find_sampler(sampler);
  MASE_CHECK(row, "no sampler '" + sampler + "'");
  return *row;
}

std::vector<Direction> Options::directions() const {
  if (setup.sum_scaled_metrics) return {direction_of(*setup.direction)};
  std::vector<Direction> out;
  for (const Goal& goal : goals) out.push_back(goal.direction);
  return out;
}

std::vector<double> Options::values_of(const Measured& measured) const {
  std::vector<double> values;
  for (const Goal& goal : goals) values.push_back(goal.scale * measured.value(goal.metric));
  if (setup.sum_scaled_metrics) values = {std::accumulate(values.begin(), values.end(), 0.0)};
  return values;
}

Options read_options(const Tree& search, Diagnostics& diagnostics) {
  Options options;
  if (!search.is_dict()) {
    diagnostics.error(search.where, "'search' must be a table");
    return options;
  }
  for (const auto& [key, entry] : search.as_dict())
    report_unknown_key(entry, key, {"search_space", "strategy", "prepare"}, diagnostics);
  if (const Tree* space = table_of(search, "search_space", diagnostics))
    read_space(*space, options, diagnostics);
  if (const Tree* strategy = table_of(search, "strategy", diagnostics))
    read_strategy(*strategy, options, diagnostics);
  if (const Tree* prepare = search.find("prepare")) options.prepare = *prepare;
  return options;
}

}  // namespace mase::search
