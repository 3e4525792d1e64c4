// SPDX-License-Identifier: Apache-2.0
// Training with stochastic rounding: which random numbers are drawn, what their mean is, that runs
// resume, that evaluation draws none, and what it is good for.
#include <ATen/ATen.h>

#include <cmath>
#include <set>

#include "formats/rounding.hpp"
#include "torch/run/executor.hpp"
#include "torch/run/quantize_op.hpp"
#include "torch/run/tensors.hpp"
#include "torch/train/network.hpp"
#include "torch/train/train_support.hpp"

using namespace mase;
using namespace mase::train;
using namespace train_support;
using Catch::Contains;
using libtorch::Rounded;

namespace {

const data::Dataset& jet_rows() {
  static const data::Dataset set = data::load_dataset("jsc", {});
  return set;
}

ir::Graph with_formats(ir::Graph graph, const std::string& data, const std::string& weight) {
  add_formats(graph, "aten::linear", {{"data_in", data}, {"weight", weight}});
  return graph;
}

std::int64_t seed_of(const formats::Format& format) { return format.fields().at("seed").as_int(); }

/// Mean and largest distance from it of `count` draws of one element, in units of its grid.
struct Draws {
  double mean = 0, spread = 0;
};

Draws of_draws(const std::vector<float>& values) {
  Draws draws;
  for (const float v : values) draws.mean += v / double(values.size());
  for (const float v : values) draws.spread = std::max(draws.spread, std::abs(v - draws.mean));
  return draws;
}

/// One linear layer without bias whose weight is `weight` times the identity.
ir::Graph scaled_identity(std::int64_t size, float weight) {
  models::Builder builder("one", "One", {size}, 0);
  builder.linear("layer", size);
  ir::Graph graph = builder.finish();
  for (auto& [path, tensor] : graph.tensors) {
    const auto values = tensor.value.mutable_span<float>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool diagonal = i % (static_cast<std::size_t>(size) + 1) == 0;
      values[i] = path == "layer.weight" && diagonal ? weight : 0.0F;
    }
  }
  return graph;
}

}  // namespace

TEST_CASE("random numbers of training follow seed, step, batch, place and what is rounded") {
  const formats::Format format = formats::parse_format("integer(8, 4, rounding=stochastic)");
  const libtorch::TrainingRounding start{.seed = 1, .step = 5, .batch = 2};
  const std::uint64_t place = libtorch::place_number("fc1", "data_in");
  const std::int64_t seed = seed_of(start.at(format, place, Rounded::data));
  CHECK(seed == seed_of(start.at(format, place, Rounded::data)));
  std::set<std::int64_t> seeds{seed};
  const auto add = [&](const libtorch::TrainingRounding& rounding, std::uint64_t at, Rounded what,
                       std::int64_t item = 0) {
    seeds.insert(seed_of(rounding.at(format, at, what, {}, item)));
  };
  add({.seed = 2, .step = 5, .batch = 2}, place, Rounded::data);
  add({.seed = 1, .step = 6, .batch = 2}, place, Rounded::data);
  add({.seed = 1, .step = 5, .batch = 3}, place, Rounded::data);
  add({.seed = 1, .step = std::int64_t{5} << 32, .batch = 2}, place, Rounded::data);
  add(start, libtorch::place_number("fc1", "weight"), Rounded::data);
  add(start, libtorch::place_number("fc2", "data_in"), Rounded::data);
  add(start, place, Rounded::gradient);
  add(start, place, Rounded::parameter);
  add(start, place, Rounded::update);
  add(start, place, Rounded::data, 1);
  CHECK(seeds.size() == 11);
  // A parameter is rounded once in a step; a format's own seed counts; other formats stay.
  CHECK(seed_of(start.at(format, place, Rounded::parameter)) ==
        seed_of(libtorch::TrainingRounding{.seed = 1, .step = 5, .batch = 3}.at(
            format, place, Rounded::parameter)));
  const formats::Format other = formats::parse_format("integer(8, 4, rounding=stochastic, seed=3)");
  CHECK(seed_of(start.at(other, place, Rounded::data)) != seed);
  const formats::Format nearest = formats::parse_format("integer(8, 4)");
  CHECK(start.at(nearest, place, Rounded::data) == nearest);
}

TEST_CASE("elements of data in training are rounded by their own offsets") {
  const formats::Format format = formats::parse_format("integer(8, 3, rounding=stochastic)");
  ir::Graph graph = with_formats(scaled_identity(7, 1.0F), format.text(), "integer(8, 4)");
  libtorch::Executor executor(graph, ir::Level::quantized);
  executor.own_tensors();
  executor.rounding() = {.seed = 9, .step = 4, .batch = 1};
  const at::Tensor x = at::randn({33, 7});
  const at::Tensor y = executor.run_training({x}).toTensor().detach();
  const std::uint64_t place = libtorch::place_number("layer", "data_in");
  const auto seed =
      static_cast<std::uint64_t>(seed_of(executor.rounding().at(format, place, Rounded::data)));
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const double u = formats::stochastic_offset(seed, static_cast<std::uint64_t>(i));
    const double wanted = std::floor(x.data_ptr<float>()[i] * 8.0 + u) / 8.0;
    REQUIRE(y.contiguous().data_ptr<float>()[i] == static_cast<float>(wanted));
  }
}

TEST_CASE("over many steps, what training computes with has the mean of the exact values") {
  // 0.3 lies at 1.2 steps of 1/4. The mean of n draws of a value that is 0.2 steps above the grid
  // has the standard deviation 1/4 sqrt(0.2 * 0.8 / n).
  constexpr int steps = 400;
  constexpr std::int64_t size = 16;
  const double deviation = 0.25 * std::sqrt(0.2 * 0.8 / (steps * double(size)));
  const std::string coarse = "integer(8, 2, rounding=stochastic)";
  const auto drawn = [&](const auto& make, const ir::Graph& graph, float input) {
    libtorch::Executor executor(graph, ir::Level::quantized);
    executor.own_tensors();
    Parameters parameters(graph, executor.tensors());
    const auto network = make(executor, parameters);
    std::vector<float> values;
    for (int step = 0; step < steps; ++step) {
      executor.rounding().step = step;
      network->begin_step(true);
      const at::Tensor y = network->forward({at::eye(size) * input}).front();
      for (std::int64_t i = 0; i < size; ++i) values.push_back(y[i][i].template item<float>());
    }
    return of_draws(values);
  };
  for (const auto make : {make_layer_network, make_autograd_network}) {
    const Draws data =
        drawn(make, with_formats(scaled_identity(size, 1.0F), coarse, "integer(8, 2)"), 0.3F);
    const Draws weight =
        drawn(make, with_formats(scaled_identity(size, 0.3F), "integer(8, 2)", coarse), 1.0F);
    for (const Draws& draws : {data, weight}) {
      CHECK(std::abs(draws.mean - 0.3) < 5 * deviation);
      CHECK(draws.spread > 0.15);  // 0.25 and 0.5 both occur
    }
    const Draws nearest = drawn(
        make, with_formats(scaled_identity(size, 0.3F), "integer(8, 2)", "integer(8, 2)"), 1.0F);
    CHECK(nearest.mean == Approx(0.25).epsilon(1e-12));
  }
}

TEST_CASE("rounded gradients have the mean of the exact ones") {
  constexpr int steps = 400;
  constexpr std::int64_t size = 16;
  const ir::Graph graph =
      with_formats(scaled_identity(size, 1.0F), "integer(8, 2)", "integer(8, 2)");
  for (const auto make : {make_layer_network, make_autograd_network}) {
    libtorch::Executor executor(graph, ir::Level::quantized);
    executor.own_tensors();
    Parameters parameters(graph, executor.tensors());
    const auto network = make(executor, parameters);
    executor.rounding().gradient = formats::parse_format("integer(8, 2, rounding=stochastic)");
    std::vector<float> values;
    for (int step = 0; step < steps; ++step) {
      executor.rounding().step = step;
      network->begin_step(true);
      network->forward({at::eye(size)});
      network->backward({at::full({size, size}, 0.3F)});
      const at::Tensor gradient = parameters.find("layer.weight")->gradient;
      for (std::int64_t i = 0; i < size; ++i) values.push_back(gradient[i][i].item<float>());
      CHECK(at::equal(gradient, (gradient * 4).round() / 4));
      // The bias has no format: its gradient is exact.
      CHECK(parameters.find("layer.bias")->gradient[0].item<float>() == Approx(0.3 * size));
    }
    const Draws draws = of_draws(values);
    CHECK(std::abs(draws.mean - 0.3) < 5 * 0.25 * std::sqrt(0.2 * 0.8 / (steps * double(size))));
    CHECK(draws.spread > 0.15);
  }
}

TEST_CASE("runs with stochastic rounding resume with the same bits") {
  const std::string data = "integer(6, 3, rounding=stochastic)";
  const std::string weight = "integer(4, 3, rounding=stochastic, seed=2)";
  backend::TrainOptions options = short_run();
  options.gradient_format = "mxfp8_e5m2(rounding=stochastic)";
  const ir::Graph chain = with_formats(build("jsc-mlp", 1), data, weight);
  check_resume(chain, jet_rows(), options);
  options.accumulate_grad_batches = 2;
  options.round_weights = true;
  options.quantize_after_steps = 6;
  check_resume(chain, jet_rows(), options);
  options.round_weights = false;
  options.fold_batch_norm = true;  // by autograd
  check_resume(chain, jet_rows(), options);
}

TEST_CASE("formats of gradients and weights that cannot be used are refused") {
  const auto refusal = [](ir::Graph graph, const backend::TrainOptions& options) {
    return message_of(Fault::config, [&] { run_training(graph, jet_rows(), options, {}, ""); });
  };
  const ir::Graph graph = with_formats(build("jsc-tiny", 1), "integer(8, 4)", "integer(4, 2)");
  backend::TrainOptions options = short_run();
  options.gradient_format = "integr(8, 4)";
  CHECK_THAT(refusal(graph, options), Contains("gradient_format") && Contains("integr"));
  options.gradient_format = "integer(8, 4)";
  CHECK_THAT(refusal(build("jsc-tiny", 1), options),
             Contains("the model has no ports with formats"));
  options.gradient_format = "mxint_hardware(parallelism=[3, 7])";  // for chains and for autograd
  for (const bool fold : {false, true}) {
    const ir::Graph mlp = with_formats(build("jsc-mlp", 1), "integer(8, 4)", "integer(4, 2)");
    options.fold_batch_norm = fold;
    CHECK_THAT(refusal(mlp, options), Contains("gradient_format = 'mxint_hardware'"));
  }
  options.gradient_format.reset();
  options.round_weights = true;
  CHECK_THAT(refusal(graph, options), Contains("fold_batch_norm"));
  options.fold_batch_norm = false;
  CHECK_THAT(refusal(build("jsc-tiny", 1), options), Contains("no trained parameter"));
}

TEST_CASE("without master weights, small steps add up by stochastic rounding only") {
  backend::TrainOptions options = short_run();
  options.optimizer = "sgd";
  options.momentum = 0;
  options.learning_rate = 0.1;
  options.max_epochs = 20;
  const ir::Graph start = build("jsc-three-linear", 1);
  options.round_weights = true;
  const auto trained = [&](const std::string& weight) {
    ir::Graph graph = with_formats(start, "integer(8, 4)", weight);
    for (auto& [path, tensor] : graph.tensors)  // the 4-bit weights are all that may learn
      tensor.requires_grad = tensor.requires_grad && tensor.value.shape().size() == 2;
    const double loss = run_training(graph, jet_rows(), options, {}, "").best_validation.loss;
    return std::pair(loss, graph);
  };
  const auto [nearest, stalled] = trained("integer(4, 2)");
  const auto [stochastic, moved] = trained("integer(4, 2, rounding=stochastic)");
  const formats::Format grid = formats::parse_format("integer(4, 2)");
  for (const auto& [path, tensor] : stalled.tensors) {
    if (tensor.value.shape().size() != 2) continue;
    INFO(path);
    Array rounded(DType::float32, tensor.value.shape());
    const auto first = start.tensors.at(path).value.span<float>();
    grid.quantize(first, rounded.mutable_span<float>(), rounded.shape());
    CHECK(tensor.value.same_bits(rounded));  // every step was lost
    const Array& after = moved.tensors.at(path).value;
    grid.quantize(after.span<float>(), rounded.mutable_span<float>(), rounded.shape());
    CHECK(after.same_bits(rounded));  // on the grid, too
  }
  CHECK(stochastic < nearest - 0.3);
}

TEST_CASE("evaluation draws no numbers: it computes what nearest_even computes") {
  const auto same = [](const std::string& stochastic, const std::string& nearest) {
    INFO(stochastic);
    const at::Tensor x = at::randn({20, 16});
    const auto output = [&](const std::string& text) {
      libtorch::Executor executor(with_formats(build("jsc-three-linear", 2), text, text),
                                  ir::Level::quantized);
      return executor.run({x}).toTensor().clone();
    };
    CHECK(at::equal(output(stochastic), output(nearest)));
  };
  same("integer(6, 3, rounding=stochastic, seed=5)", "integer(6, 3)");
  same("mxfp4(rounding=stochastic)", "mxfp4()");
  same("binary(stochastic=true, scaled=true)", "binary(scaled=true)");
}
