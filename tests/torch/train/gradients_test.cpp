// SPDX-License-Identifier: Apache-2.0
// Gradients of a batch: hand-written backward steps against autograd's, with and without formats;
// straight-through gradients and gradients of learned steps against computations by hand.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <numbers>

#include "torch/fixtures.hpp"
#include "torch/run/quantize_op.hpp"
#include "torch/small_graphs.hpp"
#include "torch/train/learned_steps.hpp"
#include "torch/train/network.hpp"
#include "torch/train/port_quantizer.hpp"
#include "torch/train/train_support.hpp"

using namespace mase;
using namespace mase::train;
using namespace train_support;

namespace {

void seed_torch(std::uint64_t seed) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_current_seed(seed);
}

/// Output, gradients and running statistics of one training batch.
struct Outcome {
  at::Tensor output, gradients;
  ir::Graph graph;
};

struct Setup {
  bool quantized = true, learn = false, fold = false;
  std::optional<formats::Format> gradient{};
};

template <class Make>
Outcome run_once(ir::Graph graph, const at::Tensor& inputs, Make make, Setup setup) {
  libtorch::Executor executor(graph, ir::Level::quantized);
  if (setup.fold) CHECK(executor.fold_batch_norms() > 0);
  executor.own_tensors();
  executor.rounding() = {.seed = 7, .step = 3, .batch = 1, .gradient = setup.gradient};
  Parameters parameters(graph, executor.tensors(),
                        setup.learn ? learnable_ports(graph) : std::vector<PortName>());
  LearnedSteps steps(graph, executor, parameters);
  const auto network = make(executor, parameters);
  REQUIRE(network);
  for (int pass = 0; pass < 2; ++pass) {  // twice: buffers are reused
    seed_torch(5);
    network->begin_step(setup.quantized);
    const at::Tensor output = network->forward({inputs}).front();
    network->backward({output.detach() * 0.01 + 0.002});
    if (pass == 0) continue;
    Outcome outcome{output.detach().clone(), parameters.gradients().clone(), graph};
    executor.store_tensors(outcome.graph);
    return outcome;
  }
  return {};
}

float largest(const at::Tensor& values) { return values.abs().max().item<float>(); }

/// Values up to rounding: running statistics, and parameters that nobody changed.
void check_same_tensors(const ir::Graph& one, const ir::Graph& other) {
  for (const auto& [path, tensor] : one.tensors) {
    INFO(path);
    const Array a = tensor.value.to_float32(), b = other.tensors.at(path).value.to_float32();
    for (std::size_t i = 0; i < a.span<float>().size(); ++i)
      REQUIRE(a.span<float>()[i] == Approx(b.span<float>()[i]).epsilon(1e-5).margin(1e-6));
  }
}

/// Results up to rounding, running statistics included.
void check_same(const Outcome& chain, const Outcome& general, double margin) {
  CHECK(at::allclose(chain.output, general.output, 1e-5, margin));
  CHECK(largest(general.gradients) > 1e-4f);
  CHECK(largest(chain.gradients - general.gradients) < 1e-5f * largest(general.gradients));
  check_same_tensors(chain.graph, general.graph);
}

void check_chain_equals_autograd(const ir::Graph& graph, const at::Tensor& inputs, Setup setup = {},
                                 double margin = 1e-6) {
  check_same(run_once(graph, inputs, make_layer_network, setup),
             run_once(graph, inputs, make_autograd_network, setup), margin);
}

}  // namespace

TEST_CASE("hand-written backward steps equal autograd's") {
  seed_torch(1);
  const at::Tensor jets = at::randn({33, 16}), digits = at::rand({9, 1, 28, 28});
  check_chain_equals_autograd(build("jsc-mlp", 3), jets);
  check_chain_equals_autograd(build("jsc-tiny", 3), jets);
  check_chain_equals_autograd(build("toy", 3), digits);
  check_chain_equals_autograd(build("lenet", 3), digits);
  ir::Graph dropout = build("jsc-mlp", 3);
  add_dropout(dropout, "module_list_2", 0.4);
  check_chain_equals_autograd(dropout, jets);
  ir::Graph frozen = build("jsc-mlp", 3);
  frozen.tensors.at("module_list.3.weight").requires_grad = false;
  frozen.tensors.at("module_list.4.bias").requires_grad = false;
  check_chain_equals_autograd(frozen, jets);
}

TEST_CASE("layers over lanes and over rows follow one another in any order") {
  seed_torch(1);
  // 19 images: lanes without an image; 15 x 13: pools leave a row and a column out.
  const at::Tensor images = at::randn({19, 3, 15, 13});
  models::Builder usual("usual", "Usual", {3, 15, 13}, 3), other("other", "Other", {3, 15, 13}, 4);
  usual.batch_norm("norm_0");
  usual.conv2d("conv_1", 6, 3, 1, true);
  usual.batch_norm("norm_1");
  usual.max_pool2d("pool_1", 2);
  usual.relu("relu_1");
  usual.conv2d("conv_2", 5, 3, 2, false);
  usual.relu("relu_2");
  usual.batch_norm("norm_2");
  usual.relu("relu_3");
  usual.call_flatten();
  usual.linear("last", 4);
  other.relu("relu_0");
  other.conv2d("conv_1", 9, 1, 0, true);
  other.relu("relu_1");
  other.max_pool2d("pool_1", 2);
  other.max_pool2d("pool_2", 3);
  other.relu("relu_2");
  other.conv2d("conv_2", 3, 2, 1, true);
  ir::Graph usual_graph = usual.finish(), other_graph = other.finish();
  check_chain_equals_autograd(usual_graph, images);
  check_chain_equals_autograd(other_graph, images);
  add_formats(other_graph, "aten::conv2d", {{"data_in", "integer(6, 4)"}});
  check_chain_equals_autograd(other_graph, images);
  usual_graph.tensors.at("norm_1.weight").requires_grad = false;
  usual_graph.tensors.at("conv_1.weight").requires_grad = false;
  usual_graph.tensors.at("conv_2.weight").requires_grad = false;
  check_chain_equals_autograd(usual_graph, images);
}

TEST_CASE("residual networks are trained by hand-written backward steps that equal autograd's") {
  seed_torch(1);
  const at::Tensor images = at::randn({19, 3, 32, 32});
  for (const char* name : {"resnet8", "mobile_tiny"}) {
    INFO(name);
    ir::Graph graph = test::import_fixture(test::fixture(name, "script"));
    // For outputs up to 8.5 stock PyTorch's own are 2.5e-6 away from those in double.
    check_chain_equals_autograd(graph, images, {}, 5e-6);
    add_formats(graph, "aten::add.Tensor", {{"data_in", "integer(16, 8)"}});
    add_formats(graph, "mase::identity", {{"data_in", "integer(16, 8)"}});
    run_once(graph, images, make_layer_network, {});
  }
}

namespace {

/// Sums over rows and images in every order of reading: x + x, f(x) + x and x + f(x), f(x) + g(x),
/// a sum that is read twice, behind ReLU and pooling, and means with and without their dimensions.
ir::Graph sums_of_rows() {
  small_graphs::Maker make("nets.Sums");
  const auto x = make.input("x", {4, 6});
  const auto sum = [&](const std::string& name, ir::NodeId a, ir::NodeId b) {
    return make.call(name, "aten::add.Tensor",
                     {{"self", ir::NodeRef{a}}, {"other", ir::NodeRef{b}}, {"alpha", 1}},
                     make.graph.node(a).info);
  };
  const auto first = make.linear("first", x, 6, 6);
  const auto twice = sum("twice", first, first);
  const auto relu = make.relu("relu", sum("back", make.linear("second", twice, 6, 6), twice));
  const auto both =
      sum("both", make.linear("third", relu, 6, 6), make.linear("fourth", relu, 6, 6));
  return make.finish(ir::NodeRef{sum("last", relu, make.relu("relu_1", both))});
}

ir::Graph sums_of_images(const std::string& mean_op, std::vector<ir::Argument> mean_arguments,
                         const Shape& mean_shape) {
  small_graphs::Maker make("nets.ImageSums");
  const auto x = make.input("x", {2, 3, 6, 7});
  const auto sum = [&](const std::string& name, ir::NodeId a, ir::NodeId b) {
    return make.call(name, "aten::add.Tensor",
                     {{"self", ir::NodeRef{a}}, {"other", ir::NodeRef{b}}},
                     make.graph.node(a).info);
  };
  const auto alias =
      make.call("alias", "mase::identity", {{"self", ir::NodeRef{x}}}, make.graph.node(x).info);
  const auto first = sum("first_sum", alias, make.conv("first", x, 3, 3));
  const auto second =
      sum("second_sum", make.batch_norm("norm", make.conv("second", first, 3, 3), 3),
          make.relu("relu", first));
  const auto clamped =
      make.call("relu6", "aten::hardtanh",
                {{"self", ir::NodeRef{second}}, {"min_val", -0.5}, {"max_val", 1.5}},
                make.graph.node(second).info);
  const auto last = sum("last", make.relu("relu_1", make.conv("third", clamped, 3, 3)), clamped);
  mean_arguments.insert(mean_arguments.begin(), {"self", ir::NodeRef{last}});
  return make.finish(
      ir::NodeRef{make.call("mean", mean_op, mean_arguments, small_graphs::floats(mean_shape))});
}

}  // namespace

TEST_CASE("sums in any order, and means over places, have autograd's gradients") {
  seed_torch(1);
  check_chain_equals_autograd(sums_of_rows(), at::randn({33, 6}));
  const at::Tensor images = at::randn({19, 3, 6, 7});
  const ir::Value places = ir::Value::list({2, 3}), last = ir::Value::list({-2, -1});
  check_chain_equals_autograd(
      sums_of_images("aten::adaptive_avg_pool2d", {{"output_size", 1}}, {2, 3, 1, 1}), images);
  check_chain_equals_autograd(sums_of_images("aten::mean.dim", {{"dim", places}}, {2, 3}), images);
  check_chain_equals_autograd(
      sums_of_images("aten::mean.dim", {{"dim", last}, {"keepdim", true}}, {2, 3, 1, 1}), images);
}

TEST_CASE("with formats, hand-written backward steps equal autograd's") {
  seed_torch(1);
  const at::Tensor rows = at::randn({33, 16}) * 3, digits = at::rand({9, 1, 28, 28});
  // Between formats all sums are exact. A batch norm comes last: a format behind it would round
  // values that differ in the last bit to different codes.
  models::Builder dense("dense", "Dense", {16}, 3), images("images", "Images", {1, 28, 28}, 3);
  dense.linear("first", 12);
  dense.relu("relu");
  dense.linear("second", 5);
  dense.batch_norm("norm");
  images.conv2d("conv", 4, 5, 0, true);
  images.relu("relu");
  images.max_pool2d("pool", 2);
  images.call_flatten();
  images.linear("linear", 10);
  const ir::Graph of_rows = dense.finish(), of_images = images.finish();
  using Texts = std::vector<std::pair<std::string, std::string>>;
  const auto check = [&](const Texts& of_layers, const Texts& of_others, Setup setup) {
    for (const auto& [start, inputs] :
         {std::pair(&of_rows, &rows), std::pair(&of_images, &digits)}) {
      ir::Graph graph = *start;
      for (const char* op : {"aten::linear", "aten::conv2d"}) add_formats(graph, op, of_layers);
      for (const char* op : {"aten::relu", "aten::batch_norm"}) add_formats(graph, op, of_others);
      check_chain_equals_autograd(graph, *inputs, setup);
    }
  };
  for (const std::string text :
       {"integer(8, 5)", "integer(3, 1, ste=clip)", "integer_floor(4, 2, ste=clip)",
        "minifloat_ieee(6, 3, ste=clip)", "mxfp4()", "integer(6, 3, rounding=stochastic)",
        "integer(3, 1, ste=clip, rounding=stochastic)"}) {
    INFO(text);
    const Texts layers{{"data_in", text}, {"weight", text}, {"bias", text}, {"data_out", text}};
    const Texts others{{"data_in", text}, {"weight", text}, {"running_mean", text}};
    for (const bool learn : {false, true}) check(layers, others, {.learn = learn});
    for (const char* gradient : {"integer(12, 10)", "integer(12, 8, rounding=stochastic)"})
      check(layers, others, {.gradient = formats::parse_format(gradient)});
  }
  // Their scales make sums inexact: on weights only.
  for (const std::string text : {"binary(scaled=true)", "ternary(scaling_factor=true)"}) {
    INFO(text);
    check({{"weight", text}}, {}, {});
  }
}

TEST_CASE("a step in float ignores the formats") {
  seed_torch(1);
  const at::Tensor jets = at::randn({33, 16});
  const ir::Graph plain = build("jsc-mlp", 3);
  ir::Graph graph = plain;
  add_formats(graph, "aten::linear", {{"data_in", "integer(2, 0)"}, {"weight", "integer(2, 0)"}});
  for (const auto make : {make_layer_network, make_autograd_network}) {
    const Outcome in_float = run_once(graph, jets, make, {.quantized = false});
    const Outcome expected = run_once(plain, jets, make, {});
    CHECK(at::equal(in_float.output, expected.output));
    CHECK(at::equal(in_float.gradients, expected.gradients));
    CHECK_FALSE(at::equal(run_once(graph, jets, make, {}).output, expected.output));
  }
}

TEST_CASE("a clipped gradient is zero exactly where the value saturates") {
  // integer(4, 1): steps of 0.5 from -4 to 3.5.
  const at::Tensor x = at::tensor({-5.0f, -4.2f, -4.0f, 0.3f, 3.5f, 3.6f, 100.0f});
  const at::Tensor gradient = at::tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f});
  const auto backward = [&](const std::string& text) {
    const at::Tensor leaf = x.clone().set_requires_grad(true);
    libtorch::quantize(leaf, formats::parse_format(text)).backward(gradient);
    return leaf.grad();
  };
  CHECK(at::equal(backward("integer(4, 1)"), gradient));
  const at::Tensor clipped = at::tensor({0.0f, 0.0f, 3.0f, 4.0f, 5.0f, 0.0f, 0.0f});
  CHECK(at::equal(backward("integer(4, 1, ste=clip)"), clipped));
  const formats::Format format = formats::parse_format("integer(4, 1, ste=clip)");
  const libtorch::TrainingRounding rounding;
  PortQuantizer quantizer({&format, &rounding});
  quantizer.forward(x);
  CHECK(at::equal(quantizer.backward(gradient), clipped));
  at::Tensor in_place = gradient.clone();
  quantizer.backward_in_place(in_place);
  CHECK(at::equal(in_place, clipped));
}

TEST_CASE("the gradient of a learned step equals a computation by hand") {
  // integer(4, 1): 0.3 → 0.5, 9 → 3.5 and -9 → -4 by saturation, 1 → 1.
  const at::Tensor x = at::tensor({0.3f, 9.0f, -9.0f, 1.0f}).set_requires_grad(true);
  const at::Tensor gradient = at::tensor({1.0f, 2.0f, -1.0f, 4.0f});
  const at::Tensor log2_step = at::scalar_tensor(-1.0f).set_requires_grad(true);
  const formats::Format format = formats::parse_format("integer(4, 1)");
  libtorch::quantize(x, format, log2_step).backward(gradient);
  // In units of the step: (round(x/s) - x/s) s = 0.2, then the highest and lowest code times s.
  const double by_hand = 1 * 0.2 + 2 * 3.5 + -1 * -4.0 + 4 * 0.0;
  CHECK(log2_step.grad().item<float>() == Approx(by_hand * std::numbers::ln2));
  CHECK(at::equal(x.grad(), at::tensor({1.0f, 0.0f, 0.0f, 4.0f})));
}

TEST_CASE("a layer with its batch norm folded in has the gradients of both") {
  seed_torch(1);
  const at::Tensor jets = at::randn({33, 16}), digits = at::rand({9, 1, 28, 28});
  const auto check = [](const ir::Graph& graph, const at::Tensor& inputs) {
    const Outcome folded = run_once(graph, inputs, make_autograd_network, {.fold = true});
    const Outcome expected = run_once(graph, inputs, make_autograd_network, {});
    CHECK(at::allclose(folded.output, expected.output, 1e-4, 1e-5));
    INFO(largest(folded.gradients - expected.gradients) << " of " << largest(expected.gradients));
    CHECK(largest(folded.gradients - expected.gradients) < 1e-4f * largest(expected.gradients));
    check_same_tensors(folded.graph, expected.graph);
  };
  check(build("jsc-mlp", 3), jets);
  check(build("jsc-s", 3), jets);
  check(build("lenet", 3), digits);
}
