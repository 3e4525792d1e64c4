// SPDX-License-Identifier: Apache-2.0
// Spaces: which dimensions the seed gives, and what a choice does.
#include <catch2/catch.hpp>

#include "config/toml.hpp"
#include "models/registry.hpp"
#include "search/spaces/search_space.hpp"

using namespace mase;
using namespace mase::search;

namespace {

ir::Graph model(const std::string& name) {
  const models::ModelRow* row = models::find_model(name);
  return row->build(row->sample_shape, row->classes, 0);
}

struct Built {
  std::unique_ptr<SearchSpace> space;
  std::string problems;
};

Built build(const std::string& network, const std::string& by, const std::string& seed,
            const std::string& kind = "graph/quantize/mixed_precision_ptq") {
  Options options;
  SpaceOptions& space = options.spaces.emplace_back();
  space.name = kind;
  space.setup.by = by;
  space.seed = config::parse_toml(seed, "x.toml");
  Diagnostics diagnostics;
  Built built{make_space(options, model(network), diagnostics), ""};
  built.problems = diagnostics.text();
  return built;
}

std::vector<std::string> names(const SearchSpace& space) {
  std::vector<std::string> out;
  for (const samplers::Dimension& dimension : space.dimensions()) out.push_back(dimension.name);
  return out;
}

const std::string example_space = R"(
[default.config]
name = ["NA"]
[linear.config]
name = ["integer"]
data_in_width = [4, 8]
data_in_frac_width = ["NA"]
weight_width = [2, 4, 8]
weight_frac_width = ["NA"]
bias_width = [2, 4, 8]
bias_frac_width = ["NA"]
[seq_blocks_2.config]
name = ["integer"]
data_in_width = [4, 8]
data_in_frac_width = ["NA"]
weight_width = [2, 4, 8]
weight_frac_width = ["NA"]
bias_width = [2, 4, 8]
bias_frac_width = ["NA"]
)";

}  // namespace

TEST_CASE("the shipped example's space has 2 x 3 x 3 configurations by name and by type") {
  const Built by_name = build("jsc-tiny", "name", example_space);
  CHECK(by_name.problems.empty());
  CHECK(names(*by_name.space) == std::vector<std::string>{"seq_blocks_2/config/data_in_width",
                                                          "seq_blocks_2/config/weight_width",
                                                          "seq_blocks_2/config/bias_width"});
  CHECK(samplers::configurations(by_name.space->dimensions()) == 18);
  const Built by_type = build("jsc-tiny", "type", example_space);
  CHECK(samplers::configurations(by_type.space->dimensions()) == 18);
  CHECK(names(*by_type.space).front() == "linear/config/data_in_width");
}

TEST_CASE("by type the nodes of one op share one choice, by name each has its own") {
  const std::string seed =
      "[default.config]\nname = [\"NA\"]\n[linear.config]\n"
      "name = [\"integer\"]\nweight_width = [4, 8]\n";
  CHECK(build("jsc-three-linear", "type", seed).space->dimensions().size() == 1);
  const std::string each = "[default.config]\nname = [\"integer\"]\nweight_width = [4, 8]\n";
  // Ops without weights have none of the keys.
  CHECK(names(*build("jsc-three-linear", "name", each).space) ==
        std::vector<std::string>{
            "seq_blocks_0/config/weight_width", "seq_blocks_2/config/weight_width",
            "seq_blocks_4/config/weight_width", "seq_blocks_6/config/weight_width"});
}

TEST_CASE("a choice becomes a call of quantize that says everything") {
  const Built built = build("jsc-tiny", "name", example_space);
  const samplers::Params params{{"seq_blocks_2/config/data_in_width", 8},
                                {"seq_blocks_2/config/weight_width", 0},
                                {"seq_blocks_2/config/bias_width", 2}};
  const auto calls = built.space->calls(params);
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].name == "quantize");
  CHECK(calls[0].options.at("by") == Tree("name"));
  CHECK(calls[0].options.at("default").at("config").at("name") == Tree("NA"));
  const Tree& config = calls[0].options.at("seq_blocks_2").at("config");
  CHECK(config.at("data_in_width") == Tree(8));
  CHECK(config.at("weight_width") == Tree(2));
  CHECK(config.at("bias_width") == Tree(8));
  CHECK(config.at("bias_frac_width") == Tree("NA"));
}

TEST_CASE("whole formats are chosen by port, with a name for the others or without one") {
  const std::string ports =
      "[seq_blocks_2.config]\ndata_in = [\"fp8_e4m3\", \"integer(8, 4)\"]\n"
      "weight = [\"ternary(threshold=0.05)\", \"fp4_e2m1\", \"NA\"]\n";
  const Built alone = build("jsc-tiny", "name", ports);
  REQUIRE(alone.problems == "");
  CHECK(samplers::configurations(alone.space->dimensions()) == 6);
  REQUIRE(alone.space->layers().size() == 2);  // each port is measured by itself
  CHECK(alone.space->layers()[1].name == "seq_blocks_2.weight");
  const samplers::Params params{{"seq_blocks_2/config/data_in", 1},
                                {"seq_blocks_2/config/weight", 0}};
  const Tree chosen = alone.space->sampled_config(params).at("seq_blocks_2").at("config");
  CHECK(chosen.at("data_in") == Tree("integer(8, 4)"));
  CHECK(chosen.at("weight") == Tree("ternary(threshold=0.05)"));
  CHECK(chosen.find("name") == nullptr);
  const Built named = build("jsc-tiny", "name", ports + "name = [\"fp6_e3m2\", \"NA\"]\n");
  REQUIRE(named.problems == "");
  CHECK(samplers::configurations(named.space->dimensions()) == 7);
  // A node that has none of the ports stays as it is.
  const Built shared =
      build("jsc-tiny", "name", "[default.config]\nweight = [\"fp8_e4m3\", \"fp8_e5m2\"]\n");
  REQUIRE(shared.problems == "");
  CHECK(shared.space->sampled_config({}).find("seq_blocks_1") == nullptr);
}

TEST_CASE("whole numbers at even distances are a range, other choices are names") {
  const Built built = build("jsc-tiny", "name", R"(
[seq_blocks_2.config]
name = ["integer"]
data_in_width = [8, 4, 6]
data_in_frac_width = [-2, -1, 0]
weight_width = [2, 4, 8]
weight_rounding = ["floor", "nearest_even"]
bias_width = [8, 8]
)");
  const samplers::Space& space = built.space->dimensions();
  REQUIRE(space.size() == 5);
  const auto is_range = [&](std::size_t i, samplers::IntDistribution wanted) {
    return space[i].distribution == samplers::Distribution(wanted);
  };
  CHECK(is_range(0, {4, 8, 2, false}));
  CHECK(is_range(1, {-2, 0, 1, false}));
  for (const std::size_t i : {2, 3, 4})
    CHECK(std::holds_alternative<samplers::CategoricalDistribution>(space[i].distribution));
  samplers::Params params;
  for (const samplers::Dimension& dimension : space)
    params[dimension.name] = samplers::value_at(dimension.distribution, 1);
  const Tree config = built.space->sampled_config(params).at("seq_blocks_2").at("config");
  CHECK(config.at("data_in_width") == Tree(6));
  CHECK(config.at("data_in_frac_width") == Tree(-1));
  CHECK(config.at("weight_width") == Tree(4));
  CHECK(config.at("weight_rounding") == Tree("nearest_even"));
}

TEST_CASE("by regex_name a node goes to the first pattern that matches it") {
  const Built built = build("jsc-three-linear", "regex_name", R"(
["seq_blocks_4".config]
name = ["NA"]
["seq_blocks_[246]".config]
name = ["integer"]
weight_width = [4, 8]
[default.config]
name = ["integer"]
data_in_width = [4, 8]
)");
  CHECK(built.problems.empty());
  const samplers::Space& space = built.space->dimensions();
  CHECK(space.front().name == "seq_blocks_[246]/config/weight_width");
  const auto has = [&](const std::string& name) {
    return std::any_of(space.begin(), space.end(),
                       [&](const auto& dimension) { return dimension.name == name; });
  };
  CHECK(has("seq_blocks_0/config/data_in_width"));
  for (const char* node : {"seq_blocks_2", "seq_blocks_4", "seq_blocks_6"})
    CHECK_FALSE(has(std::string(node) + "/config/data_in_width"));
  const Tree one = built.space->sampled_config({{"seq_blocks_[246]/config/weight_width", 4}});
  CHECK(one.at("by") == Tree("regex_name"));
  CHECK(one.at("seq_blocks_4").at("config").at("name") == Tree("NA"));
  CHECK(one.at("seq_blocks_[246]").at("config").at("weight_width") == Tree(4));
  // Where only one layer has parameters, the patterns of the others leave their nodes alone.
  const Tree other = built.space->sampled_config({{"seq_blocks_0/config/data_in_width", 4}});
  CHECK(other.at("seq_blocks_[246]").at("config").at("name") == Tree("NA"));

  CHECK(build("jsc-tiny", "regex_name", "[\"seq_blocks_(\".config]\nname = [\"integer\"]\n")
            .problems.find("is not a regular expression") != std::string::npos);
  CHECK(build("jsc-tiny", "regex_name", "[\"fc.*\".config]\nname = [\"integer\"]\n")
            .problems.find("matches the whole name of no quantizable node") != std::string::npos);
}

TEST_CASE("how calibration chooses can be fixed or searched") {
  const Built built = build("jsc-tiny", "name", R"(
calibration = ["minmax", "mse"]
num_samples = [64]
[seq_blocks_2.config]
name = ["integer"]
weight_width = [4]
weight_frac_width = ["auto"]
)");
  CHECK(built.problems.empty());
  CHECK(names(*built.space) == std::vector<std::string>{"calibration"});
  const auto options = built.space->calls({{"calibration", 1}}).at(0).options;
  CHECK(options.at("calibration") == Tree("mse"));
  CHECK(options.at("num_samples") == Tree(64));
  CHECK(built.space->calls({}).at(0).options.find("calibration") == nullptr);
  const std::string wrong =
      build("jsc-tiny", "name", "calibration = [\"mean\"]\npercentile = [10]\n").problems;
  CHECK(wrong.find("minmax") != std::string::npos);
  CHECK(wrong.find("percentile") != std::string::npos);
}

TEST_CASE("fields of a format exist only where the format is chosen") {
  const Built built = build("jsc-tiny", "name", R"(
[seq_blocks_2.config]
name = ["integer", "NA"]
weight_width = [4, 8]
bias_width = [8]
)");
  CHECK(built.problems.empty());
  const samplers::Space& space = built.space->dimensions();
  REQUIRE(space.size() == 2);
  CHECK(space[0].name == "seq_blocks_2/config/name");
  REQUIRE(space[1].condition);
  CHECK(space[1].condition->parent == "seq_blocks_2/config/name");
  CHECK(space[1].condition->values == std::set<double>{0});
  CHECK(samplers::configurations(space) == 3);
  const Tree left = built.space->sampled_config({{"seq_blocks_2/config/name", 1}});
  CHECK(left.at("seq_blocks_2").at("config").at("name") == Tree("NA"));
  CHECK(left.at("seq_blocks_2").at("config").find("bias_width") == nullptr);
}

TEST_CASE("wrong seeds are refused before any trial, where they stand") {
  const auto problems = [](const std::string& seed) {
    return build("jsc-tiny", "name", seed).problems;
  };
  CHECK(problems("[seq_block_2.config]\nname = [\"integer\"]\n")
            .find("x.toml:1:2: error: unknown option 'seq_block_2'; did you mean 'seq_blocks_2'") !=
        std::string::npos);
  CHECK(problems("[x.config]\nname = [\"integer\"]\n").find("has no quantized form") !=
        std::string::npos);
  CHECK(problems("[seq_blocks_2.config]\nname = [\"integer\"]\nweight_width = []\n")
            .find("x.toml:3:16: error: 'weight_width' must be a list with at least one choice") !=
        std::string::npos);
  CHECK(problems("[seq_blocks_2.config]\nname = [\"integr\"]\n").find("did you mean 'integer'") !=
        std::string::npos);
  CHECK(problems("[seq_blocks_2.config]\nname = [\"integer\"]\nweight_widht = [4, 8]\n")
            .find("did you mean 'weight_width'") != std::string::npos);
  CHECK(problems("[seq_blocks_2.config]\nname = [\"integer\"]\nweight_width = [4, 400]\n")
            .find("weight_width = 400 is not a format") != std::string::npos);
  CHECK(problems("[seq_blocks_2.config]\nweight = [\"integer(4, 3)\", \"integr(8, 4)\"]\n")
            .find("weight = \"integr(8, 4)\" is not a format") != std::string::npos);
  CHECK(problems("[seq_blocks_2.config]\ndata_in_name = [\"fp8_e4m3\", \"log\"]\n")
            .find("a port takes a whole format: data_in = [\"fp8_e4m3\",\"log\"]") !=
        std::string::npos);
  CHECK(problems("[seq_blocks_2.config]\nname = [\"integer\"]\nweight_width = [8]\n")
            .find("nothing to choose") != std::string::npos);
}

TEST_CASE("more fraction bits than bits are a warning") {
  const Built built = build("jsc-tiny", "name",
                            "[seq_blocks_2.config]\nname = [\"integer\"]\nweight_width = [2, 8]\n"
                            "weight_frac_width = [4]\n");
  CHECK(built.problems.find("warning: seed of 'seq_blocks_2': weight can become integer(2, 4)") !=
        std::string::npos);
}

TEST_CASE("a set of parameters of one layer leaves the others alone") {
  const Built built = build("jsc-three-linear", "name", R"(
[default.config]
name = ["NA"]
[seq_blocks_2.config]
name = ["integer"]
weight_width = [4, 8]
data_in_width = [4, 8]
[seq_blocks_4.config]
name = ["integer"]
weight_width = [4, 8]
)");
  REQUIRE(built.space->layers().size() == 3);
  const Tree one = built.space->sampled_config({{"seq_blocks_2/config/weight_width", 8}});
  CHECK(one.find("seq_blocks_4") == nullptr);
  CHECK(one.at("seq_blocks_2").at("config").at("weight_width") == Tree(8));
  CHECK(one.at("seq_blocks_2").at("config").find("data_in_width") == nullptr);
}

TEST_CASE("channel multipliers choose a factor per layer or one for all") {
  const std::string kind = "graph/nas/channel_multiplier";
  const Built each =
      build("jsc-three-linear", "name", "[default.config]\nfactor = [1, 2, 4]\n", kind);
  CHECK(each.problems.empty());
  CHECK(names(*each.space) ==
        std::vector<std::string>{"seq_blocks_2/config/factor", "seq_blocks_4/config/factor"});
  const auto calls =
      each.space->calls({{"seq_blocks_2/config/factor", 1}, {"seq_blocks_4/config/factor", 2}});
  CHECK(calls.front().name == "scale_channels");
  CHECK(calls.front().options.at("layers").at("seq_blocks_2") == Tree(2));
  CHECK(calls.front().options.at("layers").at("seq_blocks_4") == Tree(4));
  const Built all =
      build("jsc-three-linear", "uniform", "[default.config]\nfactor = [1, 2, 4]\n", kind);
  CHECK(names(*all.space) == std::vector<std::string>{"default/config/factor"});
  const Tree chosen = all.space->sampled_config({{"default/config/factor", 2}});
  CHECK(chosen.at("layers").at("seq_blocks_2") == Tree(4));
  CHECK(chosen.at("layers").at("seq_blocks_4") == Tree(4));
  CHECK(build("jsc-three-linear", "name", "[seq_blocks_6.config]\nfactor = [1, 2]\n", kind)
            .problems.find("cannot be scaled") != std::string::npos);
  CHECK(build("jsc-three-linear", "name", "[default.config]\nfactor = [1, -2]\n", kind)
            .problems.find("above 0") != std::string::npos);
}
