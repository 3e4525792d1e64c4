// SPDX-License-Identifier: Apache-2.0
// Reading [search]: what is understood, and what is refused where it stands.
#include "search/options.hpp"

#include <catch2/catch.hpp>

#include "config/toml.hpp"

using namespace mase;
using namespace mase::search;

namespace {

const std::string head = R"(
[search_space]
name = "graph/quantize/mixed_precision_ptq"
[search_space.setup]
by = "name"
[search_space.seed.default.config]
name = ["NA"]
)";

Options read(const std::string& text, std::string* problems = nullptr) {
  Diagnostics diagnostics;
  Options options = read_options(config::parse_toml(text, "x.toml"), diagnostics);
  if (problems) *problems = diagnostics.text();
  if (!problems) diagnostics.throw_if_errors();
  return options;
}

std::string problems_of(const std::string& text) {
  std::string problems;
  read(text, &problems);
  return problems;
}

}  // namespace

TEST_CASE("objectives stand in alphabetical order, with their scale and direction") {
  const Options options = read(head + R"(
[strategy.setup]
n_trials = 5
[strategy.sw_runner.basic_evaluation]
num_samples = 512
[strategy.hw_runner.average_bitwidth]
compare_to = 16
[strategy.metrics]
average_bitwidth.scale = 0.2
average_bitwidth.direction = "minimize"
accuracy.direction = "maximize"
)");
  REQUIRE(options.goals.size() == 2);
  CHECK(options.goals[0] == Goal{"accuracy", 1.0, Direction::maximize});
  CHECK(options.goals[1] == Goal{"average_bitwidth", 0.2, Direction::minimize});
  CHECK(options.directions() == std::vector{Direction::maximize, Direction::minimize});
  CHECK(options.runners.bits->compare_to == 16);
  CHECK(*options.runners.evaluation->num_samples == 512);
  CHECK(options.setup.n_trials == 5);
}

TEST_CASE("the reference's spelling dataloader is understood") {
  const Options options = read(head + R"(
[strategy.setup]
[strategy.sw_runner.basic_evaluation]
dataloader = "test_dataloader"
[strategy.metrics]
loss.direction = "minimize"
)");
  CHECK(options.runners.evaluation->data_loader == "test_dataloader");
}

TEST_CASE("a metric that no runner delivers is named with the runner to add") {
  const std::string text = problems_of(head + R"(
[strategy.setup]
[strategy.sw_runner.basic_evaluation]
[strategy.metrics]
average_bitwidth.direction = "minimize"
)");
  CHECK(text.find("x.toml:12") != std::string::npos);
  CHECK(text.find("no runner delivers the metric 'average_bitwidth'") != std::string::npos);
  CHECK(text.find("[search.strategy.hw_runner.average_bitwidth]") != std::string::npos);
}

TEST_CASE("unknown keys, samplers and metrics come with a suggestion, all at once") {
  const std::string text = problems_of(head + R"(
[strategy.setup]
n_trails = 5
sampler = "tpee"
[strategy.sw_runner.basic_evaluation]
[strategy.metrics]
acuracy.direction = "maximize"
)");
  CHECK(text.find("did you mean 'n_trials'") != std::string::npos);
  CHECK(text.find("sampler") != std::string::npos);
  CHECK(text.find("did you mean 'accuracy'") != std::string::npos);
}

TEST_CASE("constraints are read, and wrong ones refused at their place") {
  const std::string body = R"(
[strategy.setup]
[strategy.sw_runner.basic_evaluation]
[strategy.metrics]
accuracy.direction = "maximize"
)";
  const Options options =
      read(head + "[strategy]\nconstraints = [\"accuracy_drop <= 1\", \"loss>=0.5\"]\n" + body);
  REQUIRE(options.constraints.size() == 2);
  CHECK(options.constraints[0].text() == "accuracy_drop <= 1.0");
  CHECK(options.constraints[1].text() == "loss >= 0.5");
  CHECK(problems_of(head + "[strategy]\nconstraints = [\"accuracy_drop < 1\"]\n" + body)
            .find("x.toml:9:") != std::string::npos);
  CHECK(problems_of(head + "[strategy]\nconstraints = [\"acuracy_drop <= 1\"]\n" + body)
            .find("did you mean 'accuracy_drop'") != std::string::npos);
  CHECK(problems_of(head + "[strategy]\nconstraints = [\"lut <= 20000\"]\n" + body)
            .find("no runner delivers the metric 'lut'") != std::string::npos);
}

TEST_CASE("a constraint counts how far a value misses it, relative to a bound above one") {
  const Constraint drop{"accuracy_drop", true, 0.5, {}};
  CHECK(drop.excess(0.5) == 0);
  CHECK(drop.excess(2.5) == 2.0);
  CHECK(drop.excess(0.25) == -0.25);
  const Constraint lut{"lut", true, 20000, {}};
  CHECK(lut.excess(30000) == 0.5);
  const Constraint accuracy{"accuracy", false, 0.9, {}};
  CHECK(accuracy.excess(0.8) == Approx(0.1));
}

TEST_CASE("a sum of metrics needs a direction, pickles are refused, a pruner needs training") {
  const std::string body = R"(
[strategy.sw_runner.basic_evaluation]
[strategy.metrics]
accuracy.direction = "maximize"
)";
  CHECK(problems_of(head + "[strategy.setup]\nsum_scaled_metrics = true\n" + body)
            .find("needs direction") != std::string::npos);
  CHECK(problems_of(head + "[strategy.setup]\npkl_ckpt = \"study.pkl\"\n" + body)
            .find("sqlite:///") != std::string::npos);
  CHECK(problems_of(head + "[strategy.setup]\npruner = \"median\"\n" + body).find("basic_train") !=
        std::string::npos);
  const Options summed =
      read(head + "[strategy.setup]\nsum_scaled_metrics = true\ndirection = \"minimize\"\n" + body);
  CHECK(summed.directions() == std::vector{Direction::minimize});
}
