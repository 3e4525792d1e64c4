// SPDX-License-Identifier: Apache-2.0
// Reading `[search]`: one function per table.
#include "search/options.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/text.hpp"
#include "search/spaces/search_space.hpp"

namespace mase::search {
namespace {

struct SpaceTable {
  std::string name{default_space};
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
    return std::tuple{Field{"scale", &GoalTable::scale, "factor applied to the metric"},
                      Field{"direction", &GoalTable::direction, "direction of improvement"}.one_of(
                          "maximize", "minimize")};
  }
};

Direction direction_of(const std::string& name) {
  return name == "minimize" ? Direction::minimize : Direction::maximize;
}

/// The sub-table `key`; null after a diagnostic if it is missing or is not a table.
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

std::vector<std::string> runner_names(RunnerKind kind) {
  std::vector<std::string> names;
  for (const RunnerRow& row : runner_table())
    if (row.kind == kind) names.emplace_back(row.name);
  return names;
}

void read_runner(RunnerKind kind, const std::string& name, const Tree& table, Runners& runners,
                 Diagnostics& diagnostics) {
  report_unknown_key(table, name, runner_names(kind), diagnostics);
  for (const RunnerRow& row : runner_table())
    if (row.kind == kind && row.name == name) row.read(table, runners, diagnostics);
}

/// Checks that two runners of a search do not deliver the same metric.
void check_apart(const RunnerRow& one, const RunnerRow& other, const SourceLocation& where,
                 Diagnostics& diagnostics) {
  const auto shared = std::find_if(one.metrics.begin(), one.metrics.end(),
                                   [&](const auto& metric) { return other.delivers(metric.name); });
  if (shared == one.metrics.end()) return;
  diagnostics.error(where, "give " + std::string(one.name) + " or " + std::string(other.name) +
                               ", not both: each of them measures " + std::string(shared->name));
}

void read_runners(const Tree& strategy, Runners& runners, Diagnostics& diagnostics) {
  for (const RunnerKind kind : {RunnerKind::software, RunnerKind::hardware}) {
    const Tree* tables = strategy.find(kind_table(kind));
    if (!tables || !tables->is_dict()) continue;
    for (const auto& [name, table] : tables->as_dict())
      read_runner(kind, name, table, runners, diagnostics);
  }
  const std::vector<const RunnerRow*> given = given_rows(runners);
  for (std::size_t i = 0; i < given.size(); ++i)
    for (std::size_t j = i + 1; j < given.size(); ++j)
      check_apart(*given[i], *given[j], strategy.where, diagnostics);
}

/// Checks that a metric is delivered; otherwise names the first runner that would deliver it.
void check_delivered(const Runners& runners, const std::string& metric, const SourceLocation& where,
                     Diagnostics& diagnostics) {
  const RunnerRow* needed = nullptr;
  for (const RunnerRow& row : runner_table()) {
    if (!row.delivers(metric)) continue;
    if (row.is_given(runners)) return;
    if (!needed) needed = &row;
  }
  if (needed)
    diagnostics.error(where, "no runner delivers the metric '" + metric +
                                 "'; add a table [search.strategy." + needed->table() + "]");
}

/// The same for all parts of a sum.
void check_parts(const Options& options, const std::string& metric, const SourceLocation& where,
                 Diagnostics& diagnostics) {
  for (const std::string& part : options.own.with_terms({metric}))
    check_delivered(options.runners, part, where, diagnostics);
}

void read_goal(const std::string& name, const Tree& table, Options& options,
               Diagnostics& diagnostics) {
  const OwnMetric* own = options.own.source(name);
  if (!own && !find_metric(name))
    report_unknown_key(table, name, options.own.known_names(), diagnostics);
  GoalTable goal;
  if (own) goal.direction = own->direction;
  read_fields(table, goal, diagnostics);
  options.goals.push_back({name, goal.scale, direction_of(goal.direction)});
  check_parts(options, name, table.key_where, diagnostics);
}

/// Reads the tables of metrics. TOML reads the name `kappa.low` as a table in a table.
void read_goals_in(const Tree& tables, const std::string& before, Options& options,
                   Diagnostics& diagnostics) {
  for (const auto& [name, table] : tables.as_dict()) {
    Tree inner = Tree::dict(), own = table;
    if (table.is_dict()) {
      own.as_dict().clear();
      for (const auto& [key, entry] : table.as_dict()) (entry.is_dict() ? inner : own)[key] = entry;
    }
    if (own.size() > 0 || inner.size() == 0) read_goal(before + name, own, options, diagnostics);
    read_goals_in(inner, before + name + ".", options, diagnostics);
  }
}

void read_goals(const Tree& metrics, Options& options, Diagnostics& diagnostics) {
  read_goals_in(metrics, "", options, diagnostics);
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
                      "pickled studies cannot be read; name a database with storage = "
                      "\"sqlite:///FILE\", from which a study continues automatically");
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

bool tells(const RunnerRow& row, const std::string& metric) {
  return std::find(row.told.begin(), row.told.end(), metric) != row.told.end();
}

/// The runners that train and the metrics they report: "basic_train and accuracy or loss".
std::string trainers_text() {
  std::vector<std::string> trainers;
  for (const RunnerRow& row : runner_table())
    if (row.trains())
      trainers.push_back(std::string(row.name) + " and " +
                         join({row.told.begin(), row.told.end()}, " or "));
  return join(trainers, ", or ");
}

/// Checks that the only objective is a metric that training reports, because a pruner needs it.
void check_pruner(const Options& options, const SourceLocation& where, Diagnostics& diagnostics) {
  if (!options.setup.prunes()) return;
  for (const RunnerRow* row : given_rows(options.runners))
    if (options.goals.size() == 1 && tells(*row, options.goals.front().metric)) return;
  diagnostics.error(where, "a pruner needs the runner " + trainers_text() +
                               " as the only metric, because training reports it every epoch");
}

/// Reads a bound on a metric that is measured; nothing after a diagnostic.
std::optional<Constraint> read_constraint(const std::string& text, const SourceLocation& where,
                                          const OwnMetrics& own, Diagnostics& diagnostics) {
  auto constraint = parse_bound(text, where, diagnostics);
  if (!constraint || own.source(constraint->metric) || find_metric(constraint->metric))
    return constraint;
  diagnostics.error(where, "unknown metric '" + constraint->metric + "' in a constraint" +
                               did_you_mean(constraint->metric, own.known_names(), ".") +
                               " Metrics: " + join(own.known_names(), ", "));
  return std::nullopt;
}

void read_strategy(const Tree& table, Options& options, Diagnostics& diagnostics) {
  const auto strategy =
      read<Strategy>(table, diagnostics, {"setup", "sw_runner", "hw_runner", "metrics"});
  if (const Tree* setup = table_of(table, "setup", diagnostics))
    read_setup(*setup, options, diagnostics);
  read_runners(table, options.runners, diagnostics);
  if (const Tree* metrics = table_of(table, "metrics", diagnostics))
    read_goals(*metrics, options, diagnostics);
  check_pruner(options, table.where, diagnostics);
  const Tree* texts = table.find("constraints");
  for (std::size_t i = 0; i < strategy.constraints.size(); ++i) {
    const SourceLocation& where = texts->as_list()[i].where;
    if (auto constraint =
            read_constraint(strategy.constraints[i], where, options.own, diagnostics)) {
      check_parts(options, constraint->metric, where, diagnostics);
      options.constraints.push_back(*constraint);
    }
  }
}

void read_seed(const Tree& table, SpaceOptions& space, Diagnostics& diagnostics) {
  space.where = table.where;
  if (const Tree* seed = table_of(table, "seed", diagnostics)) space.seed = *seed;
}

SpaceOptions read_only_space(const Tree& table, Diagnostics& diagnostics) {
  SpaceOptions space;
  space.name = read<SpaceTable>(table, diagnostics, {"setup", "seed"}).name;
  if (const Tree* setup = table_of(table, "setup", diagnostics))
    read_fields(*setup, space.setup, diagnostics);
  read_seed(table, space, diagnostics);
  return space;
}

/// Reads the table of one of several parts. Its setup is optional.
SpaceOptions read_part(const SpaceRow& row, const Tree& table, Diagnostics& diagnostics) {
  SpaceOptions space;
  space.name = row.name;
  for (const auto& [key, entry] : table.as_dict())
    report_unknown_key(entry, key, {"setup", "seed"}, diagnostics);
  if (table.find("setup"))
    if (const Tree* setup = table_of(table, "setup", diagnostics))
      read_fields(*setup, space.setup, diagnostics);
  read_seed(table, space, diagnostics);
  return space;
}

/// The rows of the spaces that the list names, without repetition, in the order of the table.
std::vector<const SpaceRow*> listed_rows(const Tree& list, Diagnostics& diagnostics) {
  std::vector<std::string> allowed, given;
  for (const SpaceRow& row : space_table()) allowed.emplace_back(row.part);
  for (const Tree& name : list.as_list()) {
    if (!name.is_string()) {
      diagnostics.error(name.where, "a part of the space must be one of " + join(allowed, ", "));
      continue;
    }
    Tree entry = name;
    entry.key_where = name.where;
    report_unknown_key(entry, name.as_string(), allowed, diagnostics);
    if (std::find(given.begin(), given.end(), name.as_string()) != given.end())
      diagnostics.error(name.where, "'" + name.as_string() + "' is named twice");
    given.push_back(name.as_string());
  }
  if (given.empty())
    diagnostics.error(list.where, "name at least one part: " + join(allowed, ", "));
  std::vector<const SpaceRow*> rows;
  for (const SpaceRow& row : space_table())
    if (std::find(given.begin(), given.end(), row.part) != given.end()) rows.push_back(&row);
  return rows;
}

void read_parts(const Tree& table, const Tree& list, Options& options, Diagnostics& diagnostics) {
  const std::vector<const SpaceRow*> rows = listed_rows(list, diagnostics);
  std::vector<std::string> allowed{"name"};
  for (const SpaceRow* row : rows) allowed.emplace_back(row->part);
  for (const auto& [key, entry] : table.as_dict())
    report_unknown_key(entry, key, allowed, diagnostics);
  for (const SpaceRow* row : rows)
    if (const Tree* part = table_of(table, std::string(row->part), diagnostics))
      options.spaces.push_back(read_part(*row, *part, diagnostics));
}

/// The names of the parts that have tables, as text for the list that should name them.
std::string parts_in(const Tree& table) {
  std::vector<std::string> parts;
  for (const SpaceRow& row : space_table())
    if (table.find(row.part)) parts.push_back("\"" + std::string(row.part) + "\"");
  return join(parts, ", ");
}

void read_spaces(const Tree& table, Options& options, Diagnostics& diagnostics) {
  const Tree* name = table.find("name");
  const std::string parts = parts_in(table);
  if (!parts.empty() && !(name && name->is_list()))
    diagnostics.error(name ? name->where : table.where,
                      "the parts need a list that names them: name = [" + parts + "]");
  else if (name && name->is_list())
    read_parts(table, *name, options, diagnostics);
  else
    options.spaces = {read_only_space(table, diagnostics)};
}

/// Checks that a runner is given if a space chooses its options.
void check_runners(const Options& options, Diagnostics& diagnostics) {
  for (const SpaceOptions& space : options.spaces)
    for (const RunnerRow& runner : runner_table())
      if (const SpaceRow* row = find_space(space.name);
          row && row->runner == runner.name && !runner.is_given(options.runners))
        diagnostics.error(space.where,
                          "the space " + quote(space.name) + " chooses options of the runner " +
                              std::string(runner.name) + "; add a table [search.strategy." +
                              runner.table() + "], whose metrics measure their cost");
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

std::set<std::string> Options::needed_metrics() const {
  std::vector<std::string> named;
  for (const Goal& goal : goals) named.push_back(goal.metric);
  for (const Constraint& constraint : constraints) named.push_back(constraint.metric);
  return own.with_terms(named);
}

std::vector<const OwnMetric*> Options::needed_own() const {
  const std::set<std::string> needed = needed_metrics();
  std::vector<const OwnMetric*> rows;
  for (const OwnMetric& row : own.rows)
    if (std::ranges::any_of(needed,
                            [&](const std::string& name) { return own.source(name) == &row; }))
      rows.push_back(&row);
  return rows;
}

std::vector<const OwnMetric*> Options::needed_programs() const {
  std::vector<const OwnMetric*> rows = needed_own();
  std::erase_if(rows, [](const OwnMetric* row) { return !row->is_program(); });
  return rows;
}

Options read_options(const Tree& search, Diagnostics& diagnostics, OwnMetrics own) {
  Options options;
  options.own = std::move(own);
  if (!search.is_dict()) {
    diagnostics.error(search.where, "'search' must be a table");
    return options;
  }
  for (const auto& [key, entry] : search.as_dict())
    report_unknown_key(entry, key, {"search_space", "strategy", "prepare"}, diagnostics);
  if (const Tree* space = table_of(search, "search_space", diagnostics))
    read_spaces(*space, options, diagnostics);
  if (const Tree* strategy = table_of(search, "strategy", diagnostics))
    read_strategy(*strategy, options, diagnostics);
  check_runners(options, diagnostics);
  if (const Tree* prepare = search.find("prepare")) options.prepare = *prepare;
  return options;
}

}  // namespace mase::search
