// SPDX-License-Identifier: Apache-2.0
// Several spaces in one search: names, order, options of runners, and what is refused.
#include <catch2/catch.hpp>

#include "config/toml.hpp"
#include "models/registry.hpp"
#include "search/spaces/search_space.hpp"
#include "search/workers/allocation.hpp"

using namespace mase;
using namespace mase::search;

namespace {

const std::string hardware_strategy = R"(
[strategy.setup]
[strategy.sw_runner.basic_evaluation]
[strategy.hw_runner.hardware]
device_id = 3
layers.seq_blocks_6.pe = 5
[strategy.metrics]
lut.direction = "minimize"
)";

const std::string three_spaces = R"(
[search_space]
name = ["hardware", "precision", "channels"]
[search_space.channels.setup]
weights = "inherit"
[search_space.channels.seed.seq_blocks_2.config]
factor = [1, 2]
[search_space.precision.setup]
by = "type"
[search_space.precision.seed]
calibration = ["minmax", "mse"]
[search_space.precision.seed.linear.config]
name = ["integer", "NA"]
weight_width = [4, 6, 8]
[search_space.hardware.seed]
multiplier = ["dsp", "fabric"]
[search_space.hardware.seed.seq_blocks_2.config]
simd = [1, 2, 4]
pe = [1]
)" + hardware_strategy;

struct CombinedSearch {
  Options options;
  std::unique_ptr<SearchSpace> space;
  std::string problems;
};

CombinedSearch combined_search(const std::string& text) {
  CombinedSearch made;
  Diagnostics diagnostics;
  made.options = read_options(config::parse_toml(text, "x.toml"), diagnostics);
  const models::ModelRow* row = models::find_model("jsc-three-linear");
  const auto graph = row->build(row->sample_shape, row->classes, 0);
  if (!diagnostics.has_errors()) made.space = make_space(made.options, graph, diagnostics);
  made.problems = diagnostics.text();
  return made;
}

bool refuses_spaces(std::string text, const std::string& from, const std::string& to,
                    const std::string& message) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  const std::string problems = combined_search(text.replace(at, from.size(), to)).problems;
  INFO(problems);
  CHECK(problems.find(message) != std::string::npos);
  return problems.find(message) != std::string::npos;
}

}  // namespace

TEST_CASE("several spaces have their parameters under their own names, in the order of passes") {
  const CombinedSearch made = combined_search(three_spaces);
  REQUIRE(made.problems == "");
  std::vector<std::string> names;
  for (const samplers::Dimension& dimension : made.space->dimensions())
    names.push_back(dimension.name);
  CHECK(names == std::vector<std::string>{
                     "channels/seq_blocks_2/config/factor", "precision/calibration",
                     "precision/linear/config/name", "precision/linear/config/weight_width",
                     "hardware/multiplier", "hardware/seq_blocks_2/config/simd"});
  CHECK(made.space->dimensions()[3].condition->parent == "precision/linear/config/name");
  CHECK(samplers::configurations(made.space->dimensions()) == 2 * 2 * (3 + 1) * 2 * 3);
}

TEST_CASE("a choice of several spaces becomes passes, and options of the runner") {
  const CombinedSearch made = combined_search(three_spaces);
  REQUIRE(made.problems == "");
  const samplers::Params params{{"channels/seq_blocks_2/config/factor", 1},
                                {"precision/calibration", 1},
                                {"precision/linear/config/name", 0},
                                {"precision/linear/config/weight_width", 6},
                                {"hardware/multiplier", 1},
                                {"hardware/seq_blocks_2/config/simd", 2}};
  const Recipe recipe = made.space->recipe(params);
  REQUIRE(recipe.calls.size() == 2);
  CHECK(recipe.calls[0].name == "scale_channels");
  CHECK(recipe.calls[0].options.at("layers").at("seq_blocks_2") == Tree(2));
  CHECK(recipe.calls[0].options.at("weights") == Tree("inherit"));
  CHECK(recipe.calls[1].name == "quantize");
  CHECK(recipe.calls[1].options.at("calibration") == Tree("mse"));
  CHECK(recipe.calls[1].options.at("linear").at("config").at("weight_width") == Tree(6));
  CHECK(to_json(recipe.runner_options, -1) ==
        R"({"hardware":{"multiplier":"fabric","layers":{"seq_blocks_2":{"simd":4,"pe":1}}}})");
  const Tree recorded = made.space->sampled_config(params);
  CHECK(recorded.at("hardware") == recipe.runner_options.at("hardware"));
  CHECK(recorded.at("channels").at("layers").at("seq_blocks_2") == Tree(2));
  CHECK(recorded.at("precision").at("linear").at("config").at("name") == Tree("integer"));
}

TEST_CASE("a list of one space is that space, its parameters without a prefix") {
  const CombinedSearch made = combined_search(R"(
[search_space]
name = ["hardware"]
[search_space.hardware.seed.seq_blocks_2.config]
simd = [1, 2]
)" + hardware_strategy);
  REQUIRE(made.problems == "");
  REQUIRE(made.space->dimensions().size() == 1);
  CHECK(made.space->dimensions()[0].name == "seq_blocks_2/config/simd");
  CHECK(made.space->dimensions()[0].distribution ==
        samplers::Distribution(samplers::IntDistribution{1, 2, 1, false}));
}

TEST_CASE("wrong parts are refused where they stand") {
  CHECK(
      refuses_spaces(three_spaces, "[\"hardware\",", "[\"hardwear\",", "did you mean 'hardware'"));
  CHECK(refuses_spaces(three_spaces, "[\"hardware\",", "[\"precision\",",
                       "'precision' is named twice"));
  CHECK(refuses_spaces(three_spaces, "[\"hardware\", \"precision\", \"channels\"]", "[]",
                       "name at least one part: channels, precision, hardware"));
  CHECK(refuses_spaces(three_spaces, "[\"hardware\", ", "[", "unknown option 'hardware'"));
  CHECK(refuses_spaces(three_spaces, "name = [\"hardware\", \"precision\", \"channels\"]", "",
                       "name = [\"channels\", \"precision\", \"hardware\"]"));
  CHECK(refuses_spaces(three_spaces, "[\"hardware\",", "[4,",
                       "one of channels, precision, hardware"));
  CHECK(refuses_spaces(three_spaces, "[search_space.hardware.seed]\nmultiplier",
                       "[search_space.hardware.seed]\nmultiplyer", "did you mean 'multiplier'"));
  CHECK(refuses_spaces(three_spaces, "[\"dsp\", \"fabric\"]", "[\"dsp\", \"lut\"]", "fabric"));
  CHECK(refuses_spaces(three_spaces, "simd = [1, 2, 4]", "simd = [0, 2]", "simd"));
  CHECK(
      refuses_spaces(three_spaces, "simd = [1, 2, 4]", "lanes = [1, 2]", "unknown option 'lanes'"));
  CHECK(refuses_spaces(three_spaces, "simd = [1, 2, 4]", "simd = 4", "must be a list"));
  CHECK(refuses_spaces(three_spaces, "hardware.seed.seq_blocks_2", "hardware.seed.seq_block_2",
                       "did you mean 'seq_blocks_2'"));
  CHECK(refuses_spaces(three_spaces, "hardware.seed.seq_blocks_2", "hardware.seed.x",
                       "unknown option 'x'"));
  CHECK(refuses_spaces(three_spaces, "weights = \"inherit\"", "by = \"type\"",
                       "setup.by of channel"));
  CHECK(refuses_spaces(three_spaces,
                       "[search_space.channels.seed.seq_blocks_2.config]\nfactor = [1, 2]", "",
                       "needs a table 'seed'"));
}

TEST_CASE("folds need the runner that measures them, without folds of its own") {
  CHECK(refuses_spaces(
      three_spaces, "[strategy.hw_runner.hardware]\ndevice_id = 3\nlayers.seq_blocks_6.pe = 5",
      "[strategy.hw_runner.average_bitwidth]", "add a table [search.strategy.hw_runner.hardware]"));
  CHECK(refuses_spaces(three_spaces, "device_id = 3\nlayers.seq_blocks_6.pe = 5", "keep = true",
                       "keep stands alone"));
}

TEST_CASE("allocate refuses several spaces, and folds, with the reason") {
  const auto reason = [](const CombinedSearch& made) {
    REQUIRE(made.problems == "");
    try {
      check_allocation(made.options, *made.space);
    } catch (const Error& error) {
      CHECK(error.fault() == Fault::config);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(reason(combined_search(three_spaces)).find("folding does not change the loss") !=
        std::string::npos);
  std::string two = three_spaces;
  two.replace(two.find("\"hardware\", "), 12, "");
  const std::size_t from = two.find("[search_space.hardware.seed]"),
                    to = two.find(hardware_strategy);
  two.erase(from, to - from);
  CHECK(reason(combined_search(two)).find("depends on the choices in the others") !=
        std::string::npos);
}
