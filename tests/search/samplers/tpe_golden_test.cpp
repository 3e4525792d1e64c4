// SPDX-License-Identifier: Apache-2.0
// Split, kernels, weights and log densities against those of Optuna 5.0.0 for stored histories
// (tpe_golden.json, written by make_tpe_golden.py).
#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "base/tree.hpp"
#include "search/samplers/parzen.hpp"
#include "search/samplers/tpe_split.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::samplers;

namespace {

const Tree& golden() {
  static const std::string path = MASE_TEST_FOLDER "/search/samplers/tpe_golden.json";
  static const Tree tree = parse_json(read_file(path), path);
  return tree;
}

std::vector<double> numbers(const Tree& list) {
  std::vector<double> out;
  for (const Tree& item : list.as_list()) out.push_back(item.as_double());
  return out;
}

TrialState state_of(const std::string& word) {
  for (TrialState state : {TrialState::running, TrialState::complete, TrialState::pruned})
    if (state_name(state) == word) return state;
  throw std::runtime_error("unknown state " + word);
}

std::vector<Trial> trials_of(const Tree& list) {
  std::vector<Trial> trials;
  for (const Tree& item : list.as_list()) {
    Trial trial;
    trial.number = static_cast<std::int64_t>(trials.size());
    trial.state = state_of(item.at("state").as_string());
    trial.values = numbers(item.at("values"));
    trial.violation = item.at("violation").as_double();
    for (const auto& [name, value] : item.at("params").as_dict())
      trial.params[name] = value.as_double();
    for (const Tree& report : item.at("intermediate").as_list())
      trial.intermediate[report.as_list()[0].as_int()] = report.as_list()[1].as_double();
    trials.push_back(std::move(trial));
  }
  return trials;
}

template <class T>
std::vector<const T*> pointers(const std::vector<T>& items) {
  std::vector<const T*> out;
  for (const T& item : items) out.push_back(&item);
  return out;
}

std::vector<double> numbers_of(const std::vector<const Trial*>& trials) {
  std::vector<double> out;
  for (const Trial* trial : trials) out.push_back(static_cast<double>(trial->number));
  return out;
}

std::vector<Direction> directions_of(const Tree& list) {
  std::vector<Direction> out;
  for (const Tree& item : list.as_list())
    out.push_back(item.as_string() == "minimize" ? Direction::minimize : Direction::maximize);
  return out;
}

void require_near(const std::vector<double>& ours, const std::vector<double>& theirs) {
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    REQUIRE(ours[i] == Approx(theirs[i]).epsilon(1e-12).margin(1e-12));
}

struct Case {
  explicit Case(const Tree& tree) : expected(tree), trials(trials_of(tree.at("trials"))) {
    for (const auto& [name, distribution] : tree.at("space").as_dict()) {
      names.push_back(name);
      dimensions.push_back(distribution_from(distribution, "golden"));
      points.push_back(numbers(tree.at("points").at(name)));
    }
    const Tree& set = tree.at("options");
    if (const Tree* weight = set.find("prior_weight")) options.prior_weight = weight->as_double();
    options.consider_endpoints = set.find("consider_endpoints") != nullptr;
  }

  void compare(const std::vector<const Trial*>& part, const Tree& theirs) const {
    Columns columns(names.size());
    for (const Trial* trial : part)
      for (std::size_t d = 0; d < names.size(); ++d)
        columns[d].push_back(trial->params.at(names[d]));
    const ParzenEstimator ours(pointers(dimensions), columns, recency_weights(part.size()),
                               options);
    require_near(ours.weights(), numbers(theirs.at("weights")));
    for (std::size_t d = 0; d < names.size(); ++d) {
      const Tree& kernels = theirs.at("kernels").as_list()[d];
      if (kernels.is_null()) continue;
      const NumericKernels numeric(dimensions[d], columns[d], options);
      require_near(numeric.centre, numbers(kernels.at("centre")));
      require_near(numeric.width, numbers(kernels.at("width")));
    }
    require_near(ours.log_density(points), numbers(theirs.at("log_density")));
  }

  const Tree& expected;
  std::vector<Trial> trials;
  std::vector<std::string> names;
  std::vector<Distribution> dimensions;
  Columns points;
  ParzenOptions options;
};

}  // namespace

TEST_CASE("the good and bad trials are Optuna's") {
  for (const Tree& expected : golden().at("splits").as_list()) {
    INFO(expected.at("name").as_string());
    const auto trials = trials_of(expected.at("trials"));
    const auto directions = directions_of(expected.at("directions"));
    const Split split = split_history(pointers(trials), directions);
    REQUIRE(numbers_of(split.below) == numbers(expected.at("below")));
    REQUIRE(numbers_of(split.above) == numbers(expected.at("above")));
  }
}

TEST_CASE("centres, widths, weights and log densities are Optuna's to 1e-12") {
  for (const Tree& expected : golden().at("estimators").as_list()) {
    INFO(expected.at("name").as_string());
    const Case example(expected);
    const Split split = split_history(pointers(example.trials), {Direction::minimize});
    example.compare(split.below, expected.at("good"));
    example.compare(split.above, expected.at("bad"));
  }
}
