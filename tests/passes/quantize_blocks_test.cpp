// SPDX-License-Identifier: Apache-2.0
// Block formats on ports: their layout, what a tensor refuses, and their calibration.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.hpp"
#include "config/toml.hpp"
#include "driver/all_passes.hpp"
#include "ir/text.hpp"
#include "passes/calibration/score.hpp"
#include "passes/float_runner.hpp"

namespace mase {
namespace {

constexpr const char* conv_graph = R"(graph "conv" {
  module conv : torch.nn.modules.conv.Conv2d = aten::conv2d(stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1) [weight=@conv.weight, bias=@conv.bias]
  module act : torch.nn.modules.activation.ReLU = aten::relu()
  tensor conv.weight : float32[4, 2, 3, 3] parameter grad
  tensor conv.bias : float32[4] parameter grad
  %x : float32[3, 2, 4, 4] = placeholder x
  %conv : float32[3, 4, 4, 4] = call_module conv aten::conv2d(input=%x)
  %act : float32[3, 4, 4, 4] = call_module act aten::relu(self=%conv)
  %output : float32[3, 4, 4, 4] = output output(value=%act)
}
)";

constexpr const char* every_port = R"(
[default.config]
name = "block_fp"
data_in_width = 8
[conv2d.config]
name = "block_fp"
data_in_width = 8
weight_width = 8
bias_width = 8
)";

Tree field(const ir::Graph& graph, const std::string& node, const std::string& port,
           const std::string& name) {
  return graph.find_node(node)->formats.at(port).fields().at(name);
}

std::vector<float> normal_values(std::size_t count) {
  Random random(21);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(float(random.normal()));
  return values;
}

double error_in(const formats::Format& format, const Array& values) {
  std::vector<float> out(static_cast<std::size_t>(values.size()));
  format.quantize(values.span<float>(), out, values.shape());
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i)
    sum += std::pow(double(out[i]) - values.span<float>()[i], 2);
  return sum;
}

}  // namespace

TEST_CASE("the layout of blocks follows from the port unless the user says it") {
  ir::Graph graph = ir::parse(conv_graph, "g");
  passes::PassContext context;
  test::run_pass(graph, "quantize", every_port, context);
  for (const char* port : {"data_in", "weight"}) {
    CHECK(field(graph, "conv", port, "skip_first_dim") == Tree(true));
    CHECK(field(graph, "conv", port, "max_rank") == Tree(3));
  }
  CHECK(field(graph, "conv", "bias", "skip_first_dim") == Tree(false));
  CHECK(field(graph, "act", "data_in", "max_rank") == Tree(3));
  test::run_pass(graph, "quantize",
                 "[relu.config]\nname = \"block_fp\"\ndata_in_width = 8\n"
                 "data_in_skip_first_dim = false\ndata_in_max_rank = 2\n",
                 context);
  CHECK(field(graph, "act", "data_in", "skip_first_dim") == Tree(false));
  CHECK(field(graph, "act", "data_in", "max_rank") == Tree(2));
}

TEST_CASE("a resolved configuration leaves the layout of blocks open where it was") {
  const passes::PassRow& row = *passes::find_pass(driver::all_passes(), "quantize");
  const Tree resolved = row.resolve(config::parse_toml(every_port, "options.toml"));
  CHECK(row.resolve(resolved) == resolved);
  ir::Graph first = ir::parse(conv_graph, "g"), second = first;
  passes::PassContext context;
  test::run_pass(first, "quantize", every_port, context);
  test::run_pass(second, "quantize", config::to_toml(resolved), context);
  for (const char* node : {"conv", "act"})
    CHECK(first.find_node(node)->formats == second.find_node(node)->formats);
}

TEST_CASE("a resolved configuration keeps ports of different formats apart") {
  const passes::PassRow& row = *passes::find_pass(driver::all_passes(), "quantize");
  const Tree resolved = row.resolve(config::parse_toml(
      "[linear.config]\nname = \"integer\"\ndata_in_width = 8\n"
      "weight = \"block_fp(width=4, skip_first_dim=true)\"\nbias = \"integer(8, auto)\"\n",
      "options.toml"));
  CHECK(row.resolve(resolved) == resolved);
  const Tree& config = resolved.at("linear").at("config");
  CHECK(config.find("name") == nullptr);
  const Tree bias = formats::read_format(config.at("bias").as_string()).fields;
  CHECK(bias.at("frac_width") == Tree("auto"));
  const Tree weight = formats::read_format(config.at("weight").as_string()).fields;
  CHECK(weight.at("width") == Tree(4));
  CHECK(weight.at("skip_first_dim") == Tree(true));
  CHECK(weight.find("max_rank") == nullptr);
}

TEST_CASE("the ports of a node have formats in every pair, and a name has the others") {
  const passes::PassRow& row = *passes::find_pass(driver::all_passes(), "quantize");
  std::vector<std::string> names = formats::format_names();
  std::erase(names, "mxint_hardware");  // its tiles do not fit kernels of 3 x 3
  for (const std::string& data : names) {
    for (const std::string& weight : names) {
      INFO(data + ", " + weight);
      Tree options = Tree::dict();
      Tree& config = options["conv2d"]["config"];
      config["data_in"] = data;
      config["weight"] = weight;
      config["bias"] = "integer(16, 8)";
      ir::Graph graph = ir::parse(conv_graph, "g"), named = graph, again = graph;
      passes::PassContext context;
      row.run(graph, options, context);
      const auto& made = graph.find_node("conv")->formats;
      CHECK(made.size() == 3);
      CHECK(made.at("data_in").name() == data);
      CHECK(made.at("weight").name() == weight);
      CHECK(made.at("bias").text() == "integer(16, 8)");
      row.run(again, row.resolve(options), context);
      CHECK(again.find_node("conv")->formats == made);
      config = Tree::dict();
      config["name"] = data;
      config["weight"] = weight;
      config["bias"] = "NA";
      row.run(named, row.resolve(options), context);
      const auto& others = named.find_node("conv")->formats;
      CHECK(others.size() == 2);
      CHECK(others.at("data_in") == made.at("data_in"));
      CHECK(others.at("weight") == made.at("weight"));
    }
  }
}

TEST_CASE("tensors that cannot have their format are all named at once") {
  ir::Graph graph = ir::parse(conv_graph, "g");
  passes::PassContext context;
  CHECK_THROWS_WITH(
      test::run_pass(graph, "quantize",
                     "[conv2d.config]\nname = \"mxint\"\nblock_dim = 3\nweight_width = 8\n"
                     "bias_width = 8\n[relu.config]\nname = \"mxint\"\nblock_dim = 5\n"
                     "data_in_width = 8\n",
                     context),
      Catch::Contains("node 'conv', port bias") && Catch::Contains("node 'act', port data_in") &&
          !Catch::Contains("port weight"));
}

TEST_CASE("scale rules and tensor scales with the least squared error are found") {
  const Array values = Array::from(normal_values(640), {10, 64});
  for (const char* text : {"mxfp", "mxint(4)", "block_fp(4, 8)", "nvfp4"}) {
    INFO(text);
    const formats::Format format = formats::parse_format(text);
    passes::CalibrationOptions options;
    options.method = "mse";
    double largest = 0;
    for (const float x : values.span<float>()) largest = std::max(largest, std::fabs(double(x)));
    passes::PortScores scores(passes::candidates(format, largest), options);
    CHECK(scores.candidates().size() >= 4);
    scores.add(values.rows(0, 3));
    scores.add(values.rows(3, 7));
    const std::size_t best =
        passes::choose(scores.candidates(), scores.scores(), scores.count(), options);
    const auto error_at = [&](std::size_t c) {
      const formats::Format& tried = scores.candidates()[c].format;
      return error_in(tried, values.rows(0, 3)) + error_in(tried, values.rows(3, 7));
    };
    for (std::size_t c = 0; c < scores.candidates().size(); ++c)
      CHECK(error_at(best) <= error_at(c));
  }
}

TEST_CASE("kl is refused where values share bits") {
  passes::CalibrationOptions options;
  options.method = "kl";
  CHECK_THROWS_WITH(
      passes::PortScores(passes::candidates(formats::parse_format("mxfp"), 1.0), options),
      Catch::Contains("share bits; use mse"));
}

TEST_CASE("a tensor scale that is auto is a power of two, which hardware takes") {
  ir::Graph graph = test::two_layers(normal_values(8), {0.5f, -0.25f});
  passes::PassContext context = test::context_with_rows(Array::from(normal_values(32), {8, 4}), 3);
  const passes::Result result =
      test::run_pass(graph, "quantize",
                     "calibration = \"mse\"\n[linear.config]\nname = \"nvfp4\"\n"
                     "tensor_scale = \"auto\"\n",
                     context);
  const auto& chosen = result.info.at("calibrated").as_list();
  CHECK(chosen.size() >= 2);
  int exponent = 0;
  for (const Tree& port : chosen) CHECK(std::frexp(port.at("value").as_double(), &exponent) == 0.5);
}

TEST_CASE("a scale rule that is auto is chosen per port") {
  ir::Graph graph = test::two_layers(normal_values(8), {0.5f, -0.25f});
  passes::PassContext context = test::context_with_rows(Array::from(normal_values(32), {8, 4}), 3);
  const passes::Result result =
      test::run_pass(graph, "quantize",
                     "calibration = \"mse\"\n[linear.config]\nname = \"mxint\"\n"
                     "scale_rule = \"auto\"\nweight_width = 4\ndata_in_width = 4\n",
                     context);
  CHECK(result.info.at("calibrated").size() == 2);
  CHECK(result.info.at("calibrated").as_list()[0].at("field").as_string() == "scale_rule");
}

namespace {

/// Pairs of rows of two blocks of two, with peaks 2^-20, 2^-3, 2^1 and, in the first pair alone,
/// 2^5.
std::vector<float> blocks_of_peaks() {
  std::vector<float> values;
  for (int pair = 0; pair < 4; ++pair)
    for (const int exponent : {-20, -3, 1, 5})
      for (const double share : {1.0, 0.7})
        values.push_back(exponent == 5 && pair > 0 ? 0.0F : float(std::ldexp(share, exponent)));
  return values;
}

/// The format of data_in of a layer with this table and blocks_of_peaks as its data.
std::string bounded_by(const std::string& config) {
  ir::Graph graph = test::two_layers(normal_values(8), {0.5f, -0.25f});
  passes::PassContext context = test::context_with_rows(Array::from(blocks_of_peaks(), {8, 4}), 3);
  test::run_pass(graph, "quantize", "[linear.config]\n" + config, context);
  return graph.find_node("fc")->formats.at("data_in").text();
}

std::string bounded(const std::string& format) {
  return bounded_by("data_in = \"" + format + "\"\n");
}

}  // namespace

TEST_CASE("a range of exponents that is auto is chosen from the blocks of the data") {
  const std::string blocks = "mxint8(block_size=2, ";
  // One more than 5; e2m1 has its top binade at 2^2, so that a peak of 2^5 has X = 3.
  CHECK(bounded(blocks + "exponent_max=auto)") == blocks + "exponent_max=6)");
  CHECK(bounded("mxfp4(block_size=2, exponent_max=auto)") == "mxfp4(block_size=2, exponent_max=4)");
  CHECK(bounded("mxint8(block_size=2, scale_bits=3, exponent_max=auto)") ==
        "mxint8(block_size=2, scale_bits=3, exponent_max=3)");
  CHECK(bounded_by("name = \"mxint8\"\ndata_in_block_size = 2\n"
                   "data_in_exponent_max = \"auto\"\n") == blocks + "exponent_max=6)");
}

TEST_CASE("the lowest exponent is the greatest that adds a thousandth to the error") {
  const Array values = Array::from(blocks_of_peaks(), {8, 4});
  const auto error = [&](const std::string& least) {
    return error_in(formats::parse_format("mxint8(block_size=2" + least + ")"), values);
  };
  int best = -20;
  for (int e = -20; e <= 5; ++e)
    if (error(", exponent_min=" + std::to_string(e)) <= 1.001 * error("")) best = e;
  CHECK(best > -19);
  CHECK(bounded("mxint8(block_size=2, exponent_min=auto, exponent_max=auto)") ==
        "mxint8(block_size=2, exponent_min=" + std::to_string(best) + ", exponent_max=6)");
}

}  // namespace mase
