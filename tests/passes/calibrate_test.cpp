// SPDX-License-Identifier: Apache-2.0
// Calibration chooses what a search over every value of the field would choose.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "config/toml.hpp"
#include "driver/all_passes.hpp"
#include "driver/training_rows.hpp"
#include "ir/text.hpp"
#include "passes/calibration/divergence.hpp"
#include "passes/calibration/score.hpp"
#include "passes/float_runner.hpp"

namespace mase {
namespace {

std::string format_at(const ir::Graph& graph, const std::string& node, const std::string& port) {
  return graph.find_node(node)->formats.at(port).text();
}

/// Many small values and a few large ones.
std::vector<float> heavy_tailed(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = random.normal();
    values.push_back(static_cast<float>(x * x * x));
  }
  return values;
}

formats::Format integer(int width, int fraction) {
  return formats::parse_format("integer(" + std::to_string(width) + ", " +
                               std::to_string(fraction) + ")");
}

/// clamp(round(x * 2^f)) / 2^f, written out.
double quantized(double x, int width, int fraction) {
  const double scale = std::ldexp(1.0, fraction), half = std::ldexp(1.0, width - 1);
  return std::min(std::max(std::nearbyint(x * scale), -half), half - 1) / scale;
}

double error_of(const std::vector<float>& values, int width, int fraction) {
  double sum = 0;
  for (const float x : values) sum += std::pow(quantized(x, width, fraction) - x, 2);
  return sum;
}

double error_in(const formats::Format& format, const std::vector<float>& values) {
  std::vector<float> out(values.size());
  format.quantize(values, out, {static_cast<std::int64_t>(values.size())});
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i) sum += std::pow(double(out[i]) - values[i], 2);
  return sum;
}

std::int64_t outside(const std::vector<float>& values, int width, int fraction) {
  const double half = std::ldexp(1.0, width - 1), step = std::ldexp(1.0, -fraction);
  return std::count_if(values.begin(), values.end(),
                       [&](float x) { return x < -half * step || x > (half - 1) * step; });
}

/// The fraction width that the calibrator takes for a tensor.
std::int64_t chosen(const std::vector<float>& values, int width, const std::string& method,
                    double percentile = 99.99) {
  passes::CalibrationOptions options;
  options.method = method;
  options.percentile = percentile;
  double largest = 0;
  for (const float x : values) largest = std::max(largest, std::fabs(double(x)));
  passes::PortScores scores(passes::candidates(integer(width, 0), largest), options);
  scores.add(Array::from(values, {static_cast<std::int64_t>(values.size())}));
  const std::size_t best =
      passes::choose(scores.candidates(), scores.scores(), scores.count(), options);
  return scores.candidates()[best].value.as_int();
}

}  // namespace

TEST_CASE("minmax takes the smallest range that holds every value") {
  // 1.5 needs one bit before the point beside the sign, -1 none, +1 one, 4 three.
  CHECK(chosen({-1.5f, 1.2f}, 8, "minmax") == 6);
  CHECK(chosen({-1.0f, 0.99f}, 8, "minmax") == 7);
  CHECK(chosen({-1.0f, 1.0f}, 8, "minmax") == 6);
  CHECK(chosen({-4.0f, 4.0f}, 8, "minmax") == 4);
  CHECK(chosen({-4.0f, 3.9f}, 8, "minmax") == 5);
  CHECK(chosen({0.3f, -0.3f}, 8, "minmax") == 8);
  CHECK(chosen({1e-30f}, 8, "minmax") == 106);
}

TEST_CASE("mse takes the fraction width with the least squared error of all") {
  for (const int width : {2, 3, 4, 6, 8})
    for (const std::uint64_t seed : {1, 2, 3}) {
      const std::vector<float> values = heavy_tailed(seed, 500);
      int best = -126;
      for (int fraction = -126; fraction <= 126; ++fraction)
        if (error_of(values, width, fraction) < error_of(values, width, best)) best = fraction;
      INFO("width " << width << ", seed " << seed);
      CHECK(chosen(values, width, "mse") == best);
    }
}

TEST_CASE("exponent biases with the least squared error of all are found too") {
  const std::vector<float> values = heavy_tailed(9, 400);
  const Array array = Array::from(values, {400});
  struct Case {
    const char* format;
    std::int64_t low, high;  ///< biases worth trying
  };
  for (const Case& c : {Case{"minifloat_ieee(8, 4)", -300, 300},
                        {"minifloat_ieee(4, 2)", -300, 300},
                        {"minifloat_denorm(6, 3)", -300, 300},
                        {"log(5)", -1000, 1000},
                        {"log(16)", 32767 - 300, 32767 + 300}}) {
    INFO(c.format);
    const formats::Format format = formats::parse_format(c.format);
    double least = INFINITY;
    for (std::int64_t bias = c.low; bias <= c.high; ++bias)
      if (const auto tried = passes::with_field(format, "exponent_bias", Tree(bias))) {
        const double error = error_in(*tried, values);
        least = error < least ? error : least;
      }
    passes::CalibrationOptions options;
    options.method = "mse";
    passes::PortScores scores(passes::candidates(format, 30.0), options);
    scores.add(array);
    const std::size_t best =
        passes::choose(scores.candidates(), scores.scores(), scores.count(), options);
    CHECK(error_in(scores.candidates()[best].format, values) == least);
  }
}

TEST_CASE("a tensor beyond every range takes the nearest") {
  const auto tiny = passes::candidates(integer(8, 0), 1e-40);
  REQUIRE(tiny.size() == 1);
  CHECK(tiny[0].value.as_int() == 126);
}

TEST_CASE("training rows are spread evenly over the set, in batches") {
  data::Dataset dataset;
  dataset.inputs = {{"x", Array::from(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 1})}};
  dataset.train = {9, 8, 7, 6, 5, 4, 3};
  std::vector<std::vector<float>> seen;
  const auto see = [&](const std::vector<Array>& inputs) {
    const auto values = inputs.at(0).span<float>();
    seen.emplace_back(values.begin(), values.end());
  };
  driver::training_rows(dataset, 2)(3, see);
  CHECK(seen == std::vector<std::vector<float>>{{9, 7}, {5}});
  seen.clear();
  driver::training_rows(dataset, 128)(100, see);
  CHECK(seen == std::vector<std::vector<float>>{{9, 8, 7, 6, 5, 4, 3}});
}

TEST_CASE("percentile takes the smallest range that keeps the share") {
  for (const double share : {90.0, 99.0, 99.9})
    for (const int width : {3, 8}) {
      const std::vector<float> values = heavy_tailed(7, 2000);
      int best = -126;  // the largest fraction width has the smallest range
      for (int fraction = -126; fraction <= 126; ++fraction)
        if (double(outside(values, width, fraction)) <= (100 - share) / 100 * 2000) best = fraction;
      INFO("width " << width << ", share " << share);
      CHECK(chosen(values, width, "percentile", share) == best);
    }
}

TEST_CASE("the divergence of a histogram is the one by hand") {
  // Bins of width 1 from -4 to 4; counts 2, 3, 1, 1 and 1 in those above 0. integer(3, 0) holds
  // -4 .. 3: the center 0.5 becomes 0, 1.5 and 2.5 become 2, and 3.5 saturates.
  passes::Histogram histogram(8);
  histogram.add(std::vector<float>{0.1f, 0.2f, 1.5f, 1.2f, 1.9f, 2.5f, 3.5f, -3.5f});
  REQUIRE(histogram.width() == 1.0);
  // p: 1 in [-4, -3), 2 in [0, 1), 3 in [1, 2) and 1 + 1 in [2, 3), of 8.
  // q: 1, 2, and (3 + 1) / 2 twice, of 7. The center -3.5 becomes -4 and does not saturate.
  const auto term = [](double p, double q) { return p / 8 * std::log((p / 8) / (q / 7)); };
  CHECK(passes::divergence(histogram, integer(3, 0)) ==
        Approx(term(1, 1) + term(2, 2) + term(3, 2) + term(2, 2)).epsilon(1e-12));
  CHECK(passes::divergence(histogram, integer(8, 3)) == Approx(0.0).margin(1e-12));
}

TEST_CASE("kl gives up a few far values where that keeps the shape of the rest") {
  std::vector<float> values = heavy_tailed(11, 20000);
  for (float& value : values) value = std::tanh(value);
  values.push_back(60.0f);
  CHECK(chosen(values, 4, "minmax") == -4);
  CHECK(chosen(values, 4, "kl") > 0);
}

TEST_CASE("fractions that are auto are chosen for weights, biases and activations") {
  ir::Graph graph = test::two_layers({0.5f, -0.25f, 0.1f, 0, 0, 0, 0.3f, -0.6f}, {3.0f, -1.0f});
  const Array rows =
      Array::from(std::vector<float>{1, -9, 2, 0.5f, 0, 5, -3, 1, 0, 0, 0, 7}, {3, 4});
  passes::PassContext context = test::context_with_rows(rows, 2);
  const passes::Result result = test::run_pass(graph, "quantize", R"(
[linear.config]
name = "integer"
frac_width = "auto"
data_in_width = 8
weight_width = 8
bias_frac_width = "auto"
)",
                                               context);
  // Weights up to 0.6 take 7 bits after the point, the bias 3.0 takes 5, the largest input 7
  // takes 4.
  CHECK(format_at(graph, "fc", "weight") == "integer(8, 7)");
  CHECK(format_at(graph, "fc", "bias") == "integer(8, 5)");
  CHECK(format_at(graph, "fc", "data_in") == "integer(8, 4)");
  const Tree& entries = result.info.at("calibrated");
  REQUIRE(entries.size() == 3);
  CHECK(entries.as_list()[1].at("port").as_string() == "data_in");
  CHECK(entries.as_list()[1].at("values").as_int() == 12);
  CHECK(entries.as_list()[1].at("saturated").as_double() == 0.0);
  CHECK(result.notes.empty());
}

TEST_CASE("each of two operands gets the fraction that suits it, so a product of both is kept") {
  ir::Graph graph = ir::parse(
      "graph \"two\" {\n"
      "  %a : float32[1, 2] = placeholder a\n"
      "  %b : float32[1, 2] = placeholder b\n"
      "  %y : float32[1, 2] = call_function _operator.mul aten::mul.Tensor(self=%a, other=%b)\n"
      "  %output : float32[1, 2] = output output(value=%y)\n}\n",
      "two");
  passes::PassContext context;
  context.evaluator = test::float_runner();
  context.probe = {Array::from(std::vector<float>{0.0187f, -0.01f}, {1, 2}),
                   Array::from(std::vector<float>{50.33f, 3}, {1, 2})};
  context.probe_is_data = true;
  const char* config = R"(
[mul.config]
name = "integer"
data_in_width = 8
data_in_frac_width = "auto"
)";
  const auto fraction = [&](const char* port) {
    return graph.find_node("y")->formats.at(port).fields().at("frac_width").as_int();
  };
  test::run_pass(graph, "quantize", config, context);
  // The finest fractions that saturate nothing: 0.0187 * 2^12 = 76.6 and 50.33 * 2^1 = 100.7.
  CHECK(fraction("data_in") == 12);
  CHECK(fraction("data_in_1") == 1);
  test::run_pass(graph, "quantize", config + std::string("data_in_1_width = 16\n"), context);
  CHECK(fraction("data_in") == 12);
  CHECK(fraction("data_in_1") == 9);
}

TEST_CASE("every channel of a weight gets the fraction bits that suit it") {
  ir::Graph graph = test::two_layers({0.5f, -0.25f, 0.1f, 0, 0, 0.02f, 0.03f, -6}, {3.0f, -1.0f});
  const Array rows = Array::from(std::vector<float>{1, -9, 2, 0.5f}, {1, 4});
  passes::PassContext context = test::context_with_rows(rows, 2);
  const passes::Result result = test::run_pass(graph, "quantize", R"(
[linear.config]
name = "integer"
weight_width = 8
weight_frac_width = "auto"
weight_granularity = "channel"
)",
                                               context);
  // 0.5 takes 7 bits after the point, 6 takes 4; the field of the tensor has the widest range.
  CHECK(format_at(graph, "fc", "weight") ==
        "integer(8, 4, granularity=channel, channel_frac_width=[7, 4])");
  const Tree& entry = result.info.at("calibrated").as_list().at(0);
  CHECK(entry.at("values").as_int() == 8);
  CHECK(entry.at("value") == Tree::list_of(std::vector<int>{7, 4}));
  CHECK(result.tables.at(0).rows.at(0).at(4) == "4 to 7");
}

TEST_CASE("each method chooses the same for a channel as for a tensor with its values") {
  for (const char* method : {"minmax", "percentile", "mse", "kl"}) {
    INFO(method);
    std::vector<float> weight = heavy_tailed(5, 8);
    for (std::size_t i = 0; i < 4; ++i) weight[i] *= 0.03f;
    const auto format_of = [&](const std::vector<float>& values, const std::string& more) {
      ir::Graph graph = test::two_layers(values, {0, 0});
      passes::PassContext context = test::context_with_rows(Array(DType::float32, {1, 4}), 1);
      test::run_pass(graph, "quantize",
                     "calibration = \"" + std::string(method) +
                         "\"\npercentile = 80\n[linear.config]\nname = \"integer\"\n"
                         "weight_width = 4\nweight_frac_width = \"auto\"\n" +
                         more,
                     context);
      return graph.find_node("fc")->formats.at("weight").fields();
    };
    const Tree both = format_of(weight, "weight_granularity = \"channel\"\n");
    for (std::size_t c = 0; c < 2; ++c) {
      // The same values twice: a tensor with the distribution of the channel.
      std::vector<float> twice(weight.begin() + static_cast<std::ptrdiff_t>(4 * c),
                               weight.begin() + static_cast<std::ptrdiff_t>(4 * c + 4));
      twice.insert(twice.end(), twice.begin(), twice.end());
      CHECK(both.at("channel_frac_width").as_list().at(c) == format_of(twice, "").at("frac_width"));
    }
  }
}

TEST_CASE("weights between activations get the fractions with the least squared error of all") {
  // Each port must be chosen for its own values, whichever is measured first. If fractions are
  // equally good, the largest is taken, which has the smallest range.
  for (const std::uint64_t seed : {31, 32, 33}) {
    const std::vector<float> first = heavy_tailed(seed, 8), rows = heavy_tailed(seed + 10, 12);
    ir::Graph graph = test::two_layers(first, heavy_tailed(seed + 20, 2));
    passes::PassContext context = test::context_with_rows(Array::from(rows, {3, 4}), 2);
    const auto least = [](const std::vector<float>& values) {
      int best = -126;
      for (int fraction = -126; fraction <= 126; ++fraction)
        if (error_of(values, 4, fraction) <= error_of(values, 4, best)) best = fraction;
      return best;
    };
    std::vector<float> positive = rows;  // what ReLU leaves
    for (float& value : positive) value = std::max(value, 0.0f);
    for (const bool by_channel : {false, true}) {
      CAPTURE(seed, by_channel);
      test::run_pass(graph, "quantize",
                     std::string("calibration = \"mse\"\n[linear.config]\n"
                                 "data_in = \"integer(4, auto)\"\nweight = \"integer(4, auto") +
                         (by_channel ? ", granularity=channel)\"\n" : ")\"\n"),
                     context);
      const Tree weight = graph.find_node("fc")->formats.at("weight").fields();
      std::vector<int> fractions;
      for (std::size_t channel = 0; channel < 2; ++channel)
        fractions.push_back(least({first.begin() + std::ptrdiff_t(4 * channel),
                                   first.begin() + std::ptrdiff_t(4 * channel + 4)}));
      if (by_channel)
        CHECK(weight.at("channel_frac_width") == Tree::list_of(fractions));
      else
        CHECK(weight.at("frac_width").as_int() == least(first));
      CHECK(graph.find_node("fc")->formats.at("data_in").fields().at("frac_width").as_int() ==
            least(positive));
    }
  }
}

TEST_CASE("a channel of zeros gets the finest fraction of the others") {
  ir::Graph graph = test::two_layers({0, 0, 0, 0, 0.5f, 0, 0, 0}, {0, 0});
  passes::PassContext context = test::context_with_rows(Array(DType::float32, {1, 4}), 1);
  test::run_pass(graph, "quantize", R"toml(
[linear.config]
weight = "integer(8, auto, granularity=channel)"
)toml",
                 context);
  CHECK(format_at(graph, "fc", "weight") ==
        "integer(8, 7, granularity=channel, channel_frac_width=[7, 7])");
}

TEST_CASE("a channel close to zero is at most 16 bits finer than the widest") {
  ir::Graph graph = test::two_layers({1e-20f, 0, 0, 0, 0.5f, 0, 0, 0}, {0, 0});
  passes::PassContext context = test::context_with_rows(Array(DType::float32, {1, 4}), 1);
  test::run_pass(graph, "quantize", R"toml(
[linear.config]
weight = "integer(8, auto, granularity=channel)"
)toml",
                 context);
  CHECK(format_at(graph, "fc", "weight") ==
        "integer(8, 7, granularity=channel, channel_frac_width=[23, 7])");
}

TEST_CASE("fractions by channel are refused on ports of data, with a remedy") {
  const char* options =
      "[linear.config]\nname = \"integer\"\ndata_in_width = 8\n"
      "weight_width = 8\ngranularity = \"channel\"\n";
  ir::Graph graph = test::two_layers(std::vector<float>(8, 0.5f), {0, 0});
  passes::PassContext context = test::context_with_rows(Array(DType::float32, {1, 4}), 1);
  CHECK_THROWS_WITH(test::run_pass(graph, "quantize", options, context),
                    Catch::Contains("node 'fc', port data_in: granularity = \"channel\"") &&
                        Catch::Contains("granularity = \"tensor\""));
}

TEST_CASE("only the wanted number of rows is read") {
  ir::Graph graph = test::two_layers(std::vector<float>(8, 0.5f), {0, 0});
  const Array rows = Array::from(std::vector<float>{1, 1, 1, 1, 100, 0, 0, 0}, {2, 4});
  passes::PassContext context = test::context_with_rows(rows, 1);
  test::run_pass(graph, "quantize",
                 "num_samples = 1\n[linear.config]\nname = \"integer\"\n"
                 "data_in_width = 8\ndata_in_frac_width = \"auto\"\n",
                 context);
  CHECK(format_at(graph, "fc", "data_in") == "integer(8, 6)");
}

TEST_CASE("without a data set the example inputs are the data, if they are data") {
  const std::string options =
      "num_samples = 2\n[linear.config]\nname = \"integer\"\ndata_in_frac_width = \"auto\"\n";
  ir::Graph graph = test::two_layers(std::vector<float>(8, 0.5f), {0, 0});
  passes::PassContext context;
  context.evaluator = test::float_runner();
  context.probe = {Array::from(std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2, 99, 99, 99, 99}, {3, 4})};
  CHECK_THROWS_WITH(test::run_pass(graph, "quantize", options, context),
                    Catch::Contains("node 'fc', port data_in") && Catch::Contains("data set"));
  context.probe_is_data = true;
  test::run_pass(graph, "quantize", options, context);
  CHECK(format_at(graph, "fc", "data_in") == "integer(8, 5)");
}

TEST_CASE("after extract the training rows are inputs of the cut graph") {
  // The ReLU is cut off: its results, not the -100 in front of it, are the inputs.
  ir::Graph graph = test::two_layers(std::vector<float>(8, 0.5f), {0, 0});
  const Array rows = Array::from(std::vector<float>{-100, 1, 1, 1, 3, -100, 0, 0}, {2, 4});
  passes::PassContext context = test::context_with_rows(rows, 1);
  context.probe = {rows};
  context.probe_is_data = true;
  test::run_pass(graph, "extract", "inputs = [\"act\"]", context);
  REQUIRE(graph.find_node("x") == nullptr);
  const passes::Result result = test::run_pass(
      graph, "quantize", "[linear.config]\nname = \"integer\"\ndata_in_frac_width = \"auto\"\n",
      context);
  CHECK(format_at(graph, "fc", "data_in") == "integer(8, 5)");
  CHECK(result.info.at("calibrated").as_list()[0].at("values").as_int() == 8);
}

TEST_CASE("only the free field of a format can be auto") {
  ir::Graph graph = test::two_layers(std::vector<float>(8, 0.5f), {0, 0});
  passes::PassContext context;
  CHECK_THROWS_WITH(
      test::run_pass(graph, "quantize",
                     "[linear.config]\nname = \"integer\"\nweight_width = \"auto\"\n", context),
      Catch::Contains("options.toml:3:16") &&
          Catch::Contains("'weight_width' cannot be \"auto\"; only 'frac_width' of integer can"));
}

TEST_CASE("saturation above the threshold is told, whatever chose the range") {
  // 1 of 12 values saturates when a range for 90 % is asked for.
  ir::Graph graph = test::two_layers(std::vector<float>(8, 0.5f), {0, 0});
  const Array rows = Array::from(std::vector<float>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 100}, {3, 4});
  passes::PassContext context = test::context_with_rows(rows, 3);
  const passes::Result result =
      test::run_pass(graph, "quantize",
                     "calibration = \"percentile\"\npercentile = 90\n"
                     "[linear.config]\nname = \"integer\"\ndata_in_width = 8\n"
                     "data_in_frac_width = \"auto\"\n",
                     context);
  CHECK(format_at(graph, "fc", "data_in") == "integer(8, 6)");
  // The weight has no rule, which is told first.
  REQUIRE(result.notes.size() == 2);
  CHECK(result.notes[0].starts_with("left in float: "));
  CHECK(result.notes[1] ==
        "node 'fc', port data_in: 8.333 % of the calibration values saturate in "
        "integer(8, 6)");
}

TEST_CASE("the pass calibrate replaces existing formats") {
  ir::Graph graph = test::two_layers(std::vector<float>(8, 0.5f), {0, 0});
  passes::PassContext context =
      test::context_with_rows(Array::from(std::vector<float>{1, 2, 3, 4}, {1, 4}), 1);
  test::run_pass(graph, "quantize",
                 "[linear.config]\nname = \"integer\"\ndata_in_width = 8\nweight_width = 8\n"
                 "bias_width = 8\n",
                 context);
  const passes::Result result =
      test::run_pass(graph, "calibrate", "ports = [\"weight\", \"bias\"]", context);
  CHECK(format_at(graph, "fc", "weight") == "integer(8, 7)");
  CHECK(format_at(graph, "fc", "bias") == "integer(8, 4)");  // zeros say nothing: left as it was
  CHECK(format_at(graph, "fc", "data_in") == "integer(8, 4)");
  CHECK(result.changed);
}

TEST_CASE("values that are not finite are refused with node and port") {
  for (const float bad : {NAN, INFINITY}) {
    ir::Graph graph = test::two_layers(std::vector<float>(8, 0.5f), {0, bad});
    passes::PassContext context;
    CHECK_THROWS_WITH(test::run_pass(graph, "quantize",
                                     "[linear.config]\nname = \"integer\"\n"
                                     "bias_frac_width = \"auto\"\n",
                                     context),
                      Catch::Contains("node 'fc', bias (tensor 'fc.bias'): element 1 is "));
  }
}

TEST_CASE("masks of attention do not decide a range") {
  ir::Graph graph = ir::parse(R"(graph "masked" {
  tensor b : float32[3] buffer
  %b : float32[3] = get_attr b
  %add : float32[3] = call_function _operator.add aten::add.Tensor(self=%b, other=%b)
  %y : float32[3] = call_function torch.softmax aten::softmax.int(self=%add, dim=-1)
  %output : float32[3] = output output(value=%y)
}
)",
                              "test");
  for (const float mask : {-INFINITY, std::numeric_limits<float>::lowest()}) {
    ir::Graph masked = graph;
    masked.tensors.at("b").value = Array::from<float>({0, mask, -3}, {3});
    passes::PassContext context;
    test::run_pass(masked, "quantize",
                   "[add.config]\nname = \"integer\"\ndata_in_frac_width = \"auto\"\n", context);
    CHECK(format_at(masked, "add", "data_in") == "integer(8, 5)");
  }
}

TEST_CASE("a resolved configuration keeps auto and calibrates to the same formats again") {
  const std::string options =
      "calibration = \"mse\"\n[linear.config]\nname = \"integer\"\n"
      "weight_width = 4\nweight_frac_width = \"auto\"\n"
      "data_in_width = 6\ndata_in_frac_width = 3\n";
  const passes::PassRow& row = *passes::find_pass(driver::all_passes(), "quantize");
  const Tree resolved = row.resolve(config::parse_toml(options, "options.toml"));
  const Tree& config = resolved.at("linear").at("config");
  CHECK(config.at("weight_frac_width").as_string() == "auto");
  CHECK(config.at("data_in_frac_width").as_int() == 3);
  CHECK(resolved.at("calibration").as_string() == "mse");
  CHECK(row.resolve(resolved) == resolved);
  ir::Graph first = test::two_layers(heavy_tailed(5, 8), {0, 0}), second = first;
  passes::PassContext context;
  test::run_pass(first, "quantize", options, context);
  test::run_pass(second, "quantize", config::to_toml(resolved), context);
  CHECK(format_at(first, "fc", "weight") == format_at(second, "fc", "weight"));
  CHECK(first.find_node("fc")->formats == second.find_node("fc")->formats);
}

}  // namespace mase
