// SPDX-License-Identifier: Apache-2.0
// Choices without a datapath are found before the first trial, each by itself.
#include <algorithm>
#include <catch2/catch.hpp>

#include "config/toml.hpp"
#include "models/registry.hpp"
#include "search/spaces/search_space.hpp"

using namespace mase;
using namespace mase::search;

namespace {

const std::string strategy = R"(
[strategy.setup]
[strategy.hw_runner.hardware]
[strategy.metrics]
lut.direction = "minimize"
)";

/// Seeds of lenet's conv2 and fc1; integers everywhere else.
std::string space_of(const std::string& conv2, const std::string& fc1) {
  return "[search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n"
         "[search_space.setup]\nby = \"name\"\n"
         "[search_space.seed.default.config]\nname = [\"integer\"]\n"
         "[search_space.seed.conv1.config]\nname = [\"integer\"]\nweight_width = [4, 8]\n"
         "bias_width = [8]\ndata_in_width = [8]\n"
         "[search_space.seed.conv2.config]\n" +
         conv2 + "\n[search_space.seed.fc1.config]\n" + fc1 + strategy;
}

/// What is said of the choices for these nodes' hardware.
std::string said(const std::string& conv2, const std::string& fc1 = "name = [\"integer\"]") {
  Diagnostics diagnostics;
  const Options options =
      read_options(config::parse_toml(space_of(conv2, fc1), "x.toml"), diagnostics);
  const models::ModelRow* row = models::find_model("lenet");
  const auto graph = row->build(row->sample_shape, row->classes, 0);
  const auto space = make_space(options, graph, diagnostics);
  diagnostics.throw_if_errors();
  space->check_hardware(graph, options.runners.hardware->contents(), diagnostics);
  return diagnostics.text();
}

bool names(const std::string& text, const std::vector<std::string>& parts) {
  INFO(text);
  return std::ranges::all_of(parts, [&](const std::string& part) {
    CHECK_THAT(text, Catch::Contains(part));
    return text.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("choices with hardware are accepted, whatever their format") {
  CHECK(said("name = [\"integer\"]\ndata_in = [\"mxfp8_e4m3(exponent_min=auto, "
             "exponent_max=auto)\", \"mxint8(exponent_min=-3, exponent_max=auto)\", "
             "\"nvfp4(tensor_scale=auto)\"]\n"
             "weight = [\"mxfp4(exponent_min=auto)\"]\nbias = [\"integer(16, 8)\"]") == "");
  CHECK(said("name = [\"integer\", \"fp8_e4m3\", \"fp6_e3m2\", \"fp4_e2m1\"]",
             "name = [\"integer\"]\ndata_in = [\"fp8_e4m3\", \"integer(8, 4)\"]\n"
             "weight = [\"ternary(threshold=0.05)\", \"binary\"]\nbias = [\"integer(16, 8)\"]") ==
        "");
}

TEST_CASE("a format without hardware is named with its node, beside one that has it") {
  const std::string text = said("name = [\"fp8_e4m3\", \"nvfp4\", \"NA\", \"log\"]");
  CHECK(names(text, {"x.toml:13:21: error: seed of 'conv2': name = \"nvfp4\" has no hardware",
                     "format of data_in of 'conv2': format 'nvfp4()' has a scale that follows",
                     "x.toml:13:30: error: seed of 'conv2': name = \"NA\"", "still float",
                     "name = \"log\" has no hardware", "fewer bits of exponent"}));
  CHECK(text.find("fp8_e4m3\" has") == std::string::npos);
}

TEST_CASE("a format without hardware is refused for its port alone") {
  const std::string text = said("name = [\"integer\"]",
                                "name = [\"integer\"]\ndata_in = [\"nvfp4\", \"fp8_e4m3\"]\n"
                                "weight = [\"integer(8, 4)\", \"integer(25, 4, "
                                "profile=mase)\"]\nbias = [\"integer(16, 8)\"]");
  CHECK(names(text, {"seed of 'fc1': data_in = \"nvfp4\" has no hardware",
                     "seed of 'fc1': weight = \"integer(25, 4, profile=mase)\" has no hardware"}));
  CHECK(std::ranges::count(text, '\n') <= 2);
}

TEST_CASE("a choice that has hardware only beside another of its node is a warning") {
  // A weight with 120 fraction bits needs a bias with about as many.
  const std::string text = said("name = [\"integer\"]",
                                "name = [\"integer\"]\ndata_in = [\"integer(8, 4)\"]\n"
                                "weight = [\"integer(8, 4)\", \"integer(8, 120)\"]\n"
                                "bias = [\"integer(16, 8)\", \"integer(16, 120)\"]");
  CHECK(
      names(text, {"warning: seed of 'fc1': weight = \"integer(8, 120)\" has no hardware beside"}));
}
