// Checks the `[search]` table: the same strictness as for everything else, so that a typing mistake
// shows up before a search is started.
#include <algorithm>
#include <map>

#include "driver/config_file.hpp"
#include "formats/format.hpp"
#include "ir/op_table.hpp"
#include "passes/transform/quantize.hpp"

namespace mase::driver {
namespace {

struct Space {
  std::string name = "graph/quantize/mixed_precision_ptq";
  static constexpr auto fields() {
    return std::tuple{
        Field{"name", &Space::name, "search space"}.one_of("graph/quantize/mixed_precision_ptq")};
  }
};
struct SpaceSetup {
  std::string by = "name";
  static constexpr auto fields() {
    return std::tuple{Field{"by", &SpaceSetup::by, "what the seed's tables are named after"}.one_of(
        "name", "type")};
  }
};
struct Strategy {
  std::string name = "optuna";
  bool eval_mode = true;
  static constexpr auto fields() {
    return std::tuple{Field{"name", &Strategy::name, "strategy"}.one_of("optuna"),
                      Field{"eval_mode", &Strategy::eval_mode, "evaluate without gradients"}};
  }
};
struct StrategySetup {
  int n_jobs = 1, n_trials = 1;
  double timeout = 0;
  std::string sampler = "tpe";
  bool sum_scaled_metrics = false;
  std::optional<std::string> direction, pkl_ckpt;
  int save_every_n_trials = 10;
  static constexpr auto fields() {
    using S = StrategySetup;
    return std::tuple{
        Field{"n_jobs", &S::n_jobs, "parallel trials"}.at_least(1),
        Field{"n_trials", &S::n_trials, "trials"}.at_least(1),
        Field{"timeout", &S::timeout, "seconds"}.at_least(0),
        Field{"sampler", &S::sampler, "sampler"}.one_of("tpe", "random", "nsgaii", "nsgaiii", "qmc",
                                                        "bruteforce"),
        Field{"sum_scaled_metrics", &S::sum_scaled_metrics, "one objective: the sum"},
        Field{"direction", &S::direction, "of the sum"}.one_of("minimize", "maximize"),
        Field{"pkl_ckpt", &S::pkl_ckpt, "study to go on with"},
        Field{"save_every_n_trials", &S::save_every_n_trials, "trials between two saves"}.at_least(
            1)};
  }
};
struct BasicEvaluation {
  std::string data_loader = "val_dataloader";
  std::optional<int> num_samples;
  static constexpr auto fields() {
    using B = BasicEvaluation;
    return std::tuple{Field{"data_loader", &B::data_loader, "part of the data set"}.one_of(
                          "train_dataloader", "val_dataloader", "test_dataloader"),
                      Field{"num_samples", &B::num_samples, "rows to evaluate"}.at_least(1)};
  }
};
struct AverageBitwidth {
  double compare_to = 32;
  static constexpr auto fields() {
    return std::tuple{
        Field{"compare_to", &AverageBitwidth::compare_to, "bits of the baseline"}.between(1, 64)};
  }
};
struct Metric {
  double scale = 1.0;
  std::string direction = "maximize";
  static constexpr auto fields() {
    return std::tuple{
        Field{"scale", &Metric::scale, "factor of the metric"},
        Field{"direction", &Metric::direction, "better is"}.one_of("maximize", "minimize")};
  }
};

template <class T>
void check_fields(const Tree& table, Diagnostics& diagnostics,
                  const std::vector<std::string>& others = {}) {
  T ignored;
  read_fields(table, ignored, diagnostics, others);
}

/// The sub-table `key`, with a diagnostic when it is missing or no table.
const Tree* table_of(const Tree& parent, const std::string& key, Diagnostics& diagnostics) {
  const Tree* table = parent.find(key);
  if (table && table->is_dict()) return table;
  diagnostics.error(table ? table->where : parent.where,
                    "the search needs a table '" + key + "' here");
  return nullptr;
}

/// All joined keys of the formats a seed table names, or of every format when it names none.
std::vector<std::string> seed_keys(const Tree& config) {
  std::vector<std::string> keys{"name", "bypass"};
  for (const formats::FormatRow& row : formats::format_table()) {
    if (const Tree* names = config.find("name"); names && names->is_list()) {
      const auto& list = names->as_list();
      if (std::none_of(list.begin(), list.end(),
                       [&](const Tree& n) { return n == Tree(row.name); }))
        continue;
    }
    for (const auto& joined : passes::joined_keys(passes::all_ports(), row))
      keys.push_back(joined.key);
    for (const FieldInfo& field : row.fields) keys.push_back(field.name);
  }
  return keys;
}

void check_format_names(const Tree& choices, Diagnostics& diagnostics) {
  std::vector<std::string> allowed = formats::format_names();
  allowed.push_back("NA");
  for (const Tree& choice : choices.as_list()) {
    if (choice.is_string())
      report_unknown_key(choice, choice.as_string(), allowed, diagnostics);
    else
      diagnostics.error(choice.where, "a format's name must be a string");
  }
}

void check_seed_config(const Tree& config, Diagnostics& diagnostics) {
  const std::vector<std::string> allowed = seed_keys(config);
  for (const auto& [key, choices] : config.as_dict()) {
    report_unknown_key(choices, key, allowed, diagnostics);
    if (!choices.is_list() || choices.size() == 0)
      diagnostics.error(choices.where, "'" + key + "' must be a list of choices");
    else if (key == "name")
      check_format_names(choices, diagnostics);
  }
}

void check_seed(const Tree& seed, Diagnostics& diagnostics) {
  for (const auto& [selector, table] : seed.as_dict()) {
    const Tree* config = table.find("config");
    if (!config || !config->is_dict()) {
      diagnostics.error(table.where, "seed '" + selector + "' needs a table 'config'");
      continue;
    }
    check_seed_config(*config, diagnostics);
  }
}

void check_strategy(const Tree& strategy, Diagnostics& diagnostics) {
  check_fields<Strategy>(strategy, diagnostics, {"setup", "sw_runner", "hw_runner", "metrics"});
  if (const Tree* setup = table_of(strategy, "setup", diagnostics))
    check_fields<StrategySetup>(*setup, diagnostics);
  if (const Tree* runners = strategy.find("sw_runner"); runners && runners->is_dict())
    for (const auto& [name, options] : runners->as_dict()) {
      report_unknown_key(options, name, {"basic_evaluation"}, diagnostics);
      if (name == "basic_evaluation") check_fields<BasicEvaluation>(options, diagnostics);
    }
  if (const Tree* runners = strategy.find("hw_runner"); runners && runners->is_dict())
    for (const auto& [name, options] : runners->as_dict()) {
      report_unknown_key(options, name, {"average_bitwidth"}, diagnostics);
      if (name == "average_bitwidth") check_fields<AverageBitwidth>(options, diagnostics);
    }
  if (const Tree* metrics = table_of(strategy, "metrics", diagnostics))
    for (const auto& [name, metric] : metrics->as_dict()) {
      report_unknown_key(metric, name, {"accuracy", "loss", "average_bitwidth", "memory_density"},
                         diagnostics);
      check_fields<Metric>(metric, diagnostics);
    }
}

}  // namespace

void check_search(const Tree& search, Diagnostics& diagnostics) {
  if (!search.is_dict()) {
    diagnostics.error(search.where, "'search' must be a table");
    return;
  }
  for (const auto& [key, entry] : search.as_dict())
    report_unknown_key(entry, key, {"search_space", "strategy"}, diagnostics);
  if (const Tree* space = table_of(search, "search_space", diagnostics)) {
    check_fields<Space>(*space, diagnostics, {"setup", "seed"});
    if (const Tree* setup = table_of(*space, "setup", diagnostics))
      check_fields<SpaceSetup>(*setup, diagnostics);
    if (const Tree* seed = table_of(*space, "seed", diagnostics)) check_seed(*seed, diagnostics);
  }
  if (const Tree* strategy = table_of(search, "strategy", diagnostics))
    check_strategy(*strategy, diagnostics);
}

}  // namespace mase::driver
