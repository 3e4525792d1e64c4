// SPDX-License-Identifier: Apache-2.0
// storage_tool: the interface Storage as a command line, for the tests that run it beside Optuna.
//   storage_tool COMMAND URL STUDY [NUMBER]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "search/storage/storage.hpp"

namespace mase::storage {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Tree json(const std::string& text) { return parse_json(text, "storage_tool"); }

const samplers::Space shared_space{
    {"x", samplers::FloatDistribution{-1, 1, std::nullopt, false}, std::nullopt},
    {"n", samplers::IntDistribution{1, 64, 1, true}, std::nullopt},
    {"c", samplers::CategoricalDistribution{{Tree("a"), Tree(2), Tree(0.5), Tree(), Tree(true)}},
     std::nullopt},
};

/// What the trial fixes, the rest at random from its number.
samplers::Params choose(const Record& record) {
  Random random(1, static_cast<std::uint64_t>(record.trial.number));
  samplers::Params params{{"x", random.uniform(-1, 1)},
                          {"n", static_cast<double>(1 + random.below(64))},
                          {"c", static_cast<double>(random.below(5))}};
  if (const Tree* fixed = record.trial.attributes.find("fixed_params"))
    for (const samplers::Dimension& dimension : shared_space)
      if (const Tree* value = fixed->find(dimension.name))
        params[dimension.name] = samplers::internal_value(dimension.distribution, *value).value();
  return params;
}

void run_trial(Storage& storage, const Study& study) {
  const Record record = *storage.begin_trial(study, Tree::dict());
  const samplers::Params params = choose(record);
  storage.set_parameters(record, params, shared_space, Tree::dict());
  storage.report(record.id, 1, params.at("x"));
  Outcome outcome;
  outcome.values = {params.at("x") * params.at("x") + params.at("n")};
  outcome.user = json(R"({"worker": "mase"})");
  if (!storage.finish(record.id, outcome)) file_error("a trial was taken away");
}

void work(Storage& storage, const std::string& name, double count) {
  const Study study = storage.create_study(name, {Direction::minimize}, Tree::dict(), Tree::dict());
  for (int i = 0; i < count; ++i) run_trial(storage, study);
}

/// Two objectives, every state, every kind of distribution and value.
void write(Storage& storage, const std::string& name, double) {
  const samplers::Space space{
      {"float", samplers::FloatDistribution{-1.5, 2, std::nullopt, false}, std::nullopt},
      {"log", samplers::FloatDistribution{1e-5, 1, std::nullopt, true}, std::nullopt},
      {"step", samplers::FloatDistribution{0, 1, 0.25, false}, std::nullopt},
      {"int", samplers::IntDistribution{2, 8, 2, false}, std::nullopt},
      shared_space[1],
      shared_space[2]};
  const Study study = storage.create_study(name, {Direction::minimize, Direction::maximize},
                                           json(R"({"config": {"ü": [1, 2.5, null, true]}})"),
                                           json(R"({"study:metric_names": ["loss", "bits"]})"));
  const auto finish = [&](const samplers::Params& params, const Outcome& outcome) {
    const Record record = *storage.begin_trial(study, json(R"({"grid_id": 7})"));
    storage.set_parameters(record, params, space, Tree::dict());
    storage.report(record.id, 1, std::nan(""));
    storage.report(record.id, 2, -infinity);
    storage.report(record.id, 3, 0.1);
    storage.finish(record.id, outcome);
  };
  const samplers::Params params{{"float", 0.1}, {"log", 1.0 / 3}, {"step", 0.75},
                                {"int", 6},     {"n", 64},        {"c", 3}};
  finish(params, {TrialState::complete,
                  {0.25, 8},
                  json(R"({"bits": 4.5})"),
                  json(R"({"constraints": [-1, 0]})")});
  finish(params,
         {TrialState::complete, {0.125, 4}, Tree::dict(), json(R"({"constraints:drop": 0.5})")});
  finish(params, {TrialState::complete, {infinity, -infinity}, Tree::dict(), Tree::dict()});
  finish({{"c", 4}}, {TrialState::fail, {}, json(R"({"reason": "NaN"})"), Tree::dict()});
  finish({}, {TrialState::pruned, {}, Tree::dict(), Tree::dict()});
  storage.begin_trial(study, Tree::dict());
  storage.enqueue(study, json(R"({"c": "a"})"), json(R"({"from": "mase"})"));
}

Tree time_tree(const std::optional<std::int64_t>& time) { return time ? Tree(*time) : Tree(); }

Tree record_tree(const Record& record) {
  Tree tree, params = Tree::dict(), distributions = Tree::dict(), steps = Tree::dict();
  for (const auto& [name, value] : record.trial.params) {
    params[name] = samplers::external_value(*record.distributions.at(name), value);
    distributions[name] = samplers::to_tree(*record.distributions.at(name));
  }
  for (const auto& [step, value] : record.trial.intermediate)
    steps[std::to_string(step)] = double_text(value);
  tree["number"] = record.trial.number;
  tree["state"] = samplers::state_name(record.trial.state);
  tree["params"] = params;
  tree["distributions"] = distributions;
  tree["values"] = Tree::list();
  for (const double value : record.trial.values) tree["values"].push_back(double_text(value));
  tree["intermediate"] = steps;
  tree["violation"] = record.trial.violation;
  tree["user"] = record.user;
  tree["system"] = record.trial.attributes;
  tree["start"] = time_tree(record.start);
  tree["complete"] = time_tree(record.complete);
  return tree;
}

void dump(Storage& storage, const std::string& name, double) {
  const Study study = storage.find_study(name).value();
  Tree tree, trials = Tree::list();
  tree["directions"] = Tree::list();
  for (const Direction direction : study.directions)
    tree["directions"].push_back(direction == Direction::minimize ? "minimize" : "maximize");
  tree["user"] = study.user;
  tree["system"] = study.system;
  for (const Record& record : storage.trials(study)) trials.push_back(record_tree(record));
  tree["trials"] = trials;
  std::puts(to_json(tree, -1).c_str());
}

/// Leaves a RUNNING trial behind, as a worker that was killed does.
void die(Storage& storage, const std::string& name, double) {
  const Study study = storage.find_study(name).value();
  const Record record = *storage.begin_trial(study, Tree::dict());
  storage.set_parameters(record, choose(record), shared_space, Tree::dict());
}

void retry(Storage& storage, const std::string& name, double seconds) {
  const Study study = storage.find_study(name).value();
  int count = 0;
  for (const Stale& stale : storage.stale(study, seconds))
    count += storage.fail_and_retry(study, stale) ? 1 : 0;
  std::printf("%d\n", count);
}

/// Milliseconds per trial with 50 dimensions: begin, parameters, finish with attributes; and of
/// reading all trials before each.
void measure(Storage& storage, const std::string& name, double count) {
  samplers::Space space;
  samplers::Params params;
  for (int i = 0; i < 50; ++i) {
    const std::string dimension = "layer_" + std::to_string(i) + ".width";
    space.push_back(
        {dimension,
         samplers::CategoricalDistribution{{Tree(2), Tree(3), Tree(4), Tree(6), Tree(8)}},
         std::nullopt});
    params[dimension] = i % 5;
  }
  const Study study = storage.create_study(name, {Direction::minimize}, Tree::dict(), Tree::dict());
  using Clock = std::chrono::steady_clock;
  std::chrono::duration<double, std::milli> writing{}, reading{};
  for (int i = 0; i < count; ++i) {
    const auto start = Clock::now();
    storage.trials(study);
    const auto middle = Clock::now();
    const Record record = *storage.begin_trial(study, Tree::dict());
    storage.set_parameters(record, params, space, json(R"({"batch": 1})"));
    storage.finish(record.id, {TrialState::complete,
                               {0.5},
                               json(R"({"bits": 4.5, "loss": 0.1})"),
                               json(R"({"constraints": [0.5]})")});
    reading += middle - start;
    writing += Clock::now() - middle;
  }
  std::printf("%.3f ms per trial written, %.3f ms per reading of all trials\n",
              writing.count() / count, reading.count() / count);
}

int run(int count, char** words) {
  using Command = void (*)(Storage&, const std::string&, double);
  const std::vector<std::pair<std::string, Command>> commands{
      {"write", write}, {"work", work},   {"dump", dump},
      {"die", die},     {"retry", retry}, {"measure", measure}};
  for (const auto& [name, command] : commands)
    if (count >= 4 && name == words[1]) {
      command(*open_storage(words[2]), words[3], count > 4 ? parse_double(words[4]).value() : 0);
      return 0;
    }
  std::fputs("storage_tool write|work|dump|die|retry|measure URL STUDY [NUMBER]\n", stderr);
  return 2;
}

}  // namespace
}  // namespace mase::storage

int main(int count, char** words) {
  try {
    return mase::storage::run(count, words);
  } catch (const mase::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
