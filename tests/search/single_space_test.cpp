// SPDX-License-Identifier: Apache-2.0
// A configuration with one space has the parameters, and gets the suggestions, that it has always
// had: studies go on for months, and Optuna's users know their parameters by name.
#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "config/toml.hpp"
#include "models/registry.hpp"
#include "search/spaces/search_space.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::search;

namespace {

/// The space of a shipped search.
samplers::Space shipped_space(const std::string& path) {
  const Tree file =
      config::parse_toml(read_file(std::string(MASE_SOURCE_FOLDER) + "/configs/" + path), path);
  const models::ModelRow* row = models::find_model(file.at("model").as_string());
  Diagnostics diagnostics;
  const Options options = read_options(file.at("search"), diagnostics);
  const auto graph = row->build(row->sample_shape, row->classes, 0);
  const auto space = make_space(options, graph, diagnostics);
  diagnostics.throw_if_errors();
  return space->dimensions();
}

/// 30 trials of TPE whose value is the sum of their parameters, each weighed by its place.
std::string suggestions_of(const samplers::Space& space) {
  const auto tpe = samplers::find_sampler("tpe")->make({space, {samplers::Direction::minimize}, 1},
                                                       Tree::dict());
  std::vector<samplers::Trial> history;
  std::string text;
  for (std::int64_t number = 0; number < 30; ++number) {
    samplers::Trial trial;
    trial.number = number;
    trial.params = tpe->suggest(history, number).params;
    trial.state = samplers::TrialState::complete;
    double value = 0, weight = 1;
    for (const auto& [name, parameter] : trial.params) {
      text += name + " " + std::to_string(parameter) + "\n";
      value += parameter * weight++;
    }
    trial.values = {value};
    history.push_back(std::move(trial));
  }
  return text;
}

}  // namespace

// Taken at commit 4430ebd, before several spaces could be searched together.
TEST_CASE("one space has the names and suggestions that it always had") {
  const auto [path, names, hash] = GENERATE(table<std::string, std::string, std::string>(
      {{"examples/jsc_toy_by_type.toml",
        "4360278130448c239469273a706b9215645b2b6b4145d010a2741f71f091053f",
        "47377d8b74d352a098dc0da7f622d53ea0f92940a7bbd3942a782abff67e3ccf"},
       {"search/jsc_formats.toml",
        "680e019d4c56f3eed146d5b1c123c451432bf09eee3fe37632b6ad0a73061e47",
        "a04dc490b94d78336194711a4e7b7c8ce176a204cea5605aaf8e0e51479f5c0d"},
       {"search/jsc_three_linear_channels.toml",
        "c5eb84dca2100006b5c748d158ac0f53d18ef237405f0a3064223d6f75b5ad78",
        "5710533dff74063ca19b768b40263cb6385666da8c16472538f6e140db9a8a25"}}));
  const samplers::Space space = shipped_space(path);
  std::string listed;
  for (const samplers::Dimension& dimension : space) listed += dimension.name + " ";
  CHECK(sha256(listed) == names);
  CHECK(sha256(suggestions_of(space)) == hash);
}
