// SPDX-License-Identifier: Apache-2.0
// Runs a study whose trials measure nothing, so that only the sampler, the database and memory
// count, and prints the cost of a trial as the study grows, as JSON.
#include <sys/resource.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "base/error.hpp"
#include "base/field.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "key_values.hpp"
#include "search/results/result.hpp"
#include "search/workers/plan.hpp"

namespace {

using namespace mase;

struct Settings {
  std::string sampler = "tpe";
  int trials = 20000, layers = 12, objectives = 1, jobs = 1;
  bool deterministic = false;
  std::string options = "{}";
  static constexpr auto fields() {
    using S = Settings;
    return std::tuple{Field{"sampler", &S::sampler, "a row of the sampler table"},
                      Field{"trials", &S::trials, "trials of the study"}.at_least(1),
                      Field{"layers", &S::layers, "parameters, of five choices each"}.at_least(1),
                      Field{"objectives", &S::objectives, "1: the loss, 2: bits too"}.between(1, 2),
                      Field{"jobs", &S::jobs, "threads"}.at_least(1),
                      Field{"deterministic", &S::deterministic, "in batches"},
                      Field{"options", &S::options, "the sampler's, as JSON"}};
  }
};

constexpr std::array<int, 5> bits{2, 3, 4, 6, 8};

class Widths : public search::SearchSpace {
 public:
  explicit Widths(int layers) {
    samplers::CategoricalDistribution choices;
    for (const int width : bits) choices.choices.emplace_back(width);
    for (int i = 0; i < layers; ++i)
      dimensions_.push_back({"layer" + std::to_string(i) + "/config/width", choices, std::nullopt});
  }
  std::vector<passes::PassCall> calls(const samplers::Params&) const override { return {}; }
  Tree sampled_config(const samplers::Params& params) const override {
    Tree tree = Tree::dict();
    for (const auto& [name, value] : params) tree[name] = value;
    return tree;
  }
};

search::Measured measure(const samplers::Params& params) {
  double loss = 0, sum = 0, layer = 0;
  for (const auto& [name, value] : params) {
    const int width = bits[static_cast<std::size_t>(value)];
    loss += (1 + std::fmod(++layer * 0.618, 1.0)) * std::pow(4.0, -width);
    sum += width;
  }
  search::Measured measured;
  measured.software["loss"] = loss;
  measured.hardware["average_bitwidth"] = sum / layer;
  return measured;
}

search::Plan plan_of(const Settings& settings, const search::SearchSpace& space,
                     const std::string& file) {
  search::Plan plan;
  plan.options.goals = {{"loss", 1.0, search::Direction::minimize}};
  if (settings.objectives == 2)
    plan.options.goals.push_back({"average_bitwidth", 1.0, search::Direction::minimize});
  plan.options.constraints = {{"average_bitwidth", true, 5.0, {}}};
  plan.options.runners.evaluation.emplace();
  plan.options.runners.bits.emplace();
  plan.options.setup.sampler = settings.sampler;
  plan.options.sampler_options = parse_json(settings.options, "options");
  plan.options.setup.n_trials = settings.trials;
  plan.options.setup.n_jobs = settings.jobs;
  plan.options.setup.deterministic = settings.deterministic;
  plan.space = &space;
  plan.url = "sqlite:///" + file;
  plan.study = "widths";
  plan.configuration["seed"] = 0;
  plan.evaluate = [](const samplers::Params& params, const search::Report&) {
    return measure(params);
  };
  plan.repeatable = true;
  return plan;
}

double processor_ms() { return static_cast<double>(std::clock()) * 1e3 / CLOCKS_PER_SEC; }

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e3;
}

/// The FNV-1a hash of all suggestions, to compare two versions of the program.
std::string hash_of(const std::vector<storage::Record>& records) {
  std::uint64_t hash = 14695981039346656037u;
  for (const storage::Record& record : records)
    for (const auto& [name, value] : record.trial.params)
      hash = (hash ^ static_cast<std::uint64_t>(std::llround(value * 1e6))) * 1099511628211u;
  return std::to_string(hash);
}

Tree measure(const Settings& settings, const std::string& folder) {
  const Widths space(settings.layers);
  const search::Plan plan = plan_of(settings, space, folder + "/study.db");
  Tree report = write_fields(settings);
  const int window = std::max(settings.trials / 20, 1);
  int done = 0;
  double begin = processor_ms();
  const std::atomic<bool> go_on{false};
  report["mb_before"] = peak_mb();
  const auto count = [&](const storage::Record&) {
    if (++done % window != 0) return;
    const double now = processor_ms();
    report["ms"].push_back((now - begin) / window);
    begin = now;
  };
  search::run_workers(plan, count, go_on);
  report["mb_trials"] = peak_mb();
  begin = processor_ms();
  const auto storage = plan.open();
  const storage::Study study = search::open_study(*storage, plan);
  search::StudyResult result{.name = study.name,
                             .options = plan.options,
                             .problem = plan.problem(),
                             .trials = storage->take_trials(study)};
  report["hash"] = hash_of(result.trials);
  search::write_results(result, folder);
  report["ms_results"] = processor_ms() - begin;
  report["mb_results"] = peak_mb();
  return report;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("bench_study_" + unique_suffix())).string();
  make_folder(folder);
  int code = 0;
  try {
    std::puts(to_json(measure(bench::read_key_values<Settings>(count, arguments,
                                                               "bench_study KEY=VALUE ..."),
                              folder),
                      -1)
                  .c_str());
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    code = error.exit_code();
  }
  std::filesystem::remove_all(folder);
  return code;
}
