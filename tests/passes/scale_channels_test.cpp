// SPDX-License-Identifier: Apache-2.0
// The weights that scale_channels makes, worked out by hand, and the groups of layers it finds.
#include <catch2/catch.hpp>
#include <set>

#include "base/text.hpp"
#include "driver/all_passes.hpp"
#include "ir/text.hpp"
#include "models/builder.hpp"
#include "models/registry.hpp"
#include "passes/channels/channel_groups.hpp"
#include "passes/runner.hpp"
#include "passes/tensor_values.hpp"
#include "passes/transform/scale_channels.hpp"
#include "support/message_of.hpp"

namespace mase {
namespace {

using test::get;
using test::set;
using Floats = std::vector<float>;

ir::Graph scaled(ir::Graph graph, const Tree& options) {
  passes::PassContext context;
  passes::run_passes(graph, {{"scale_channels", options, {}}}, driver::all_passes(), context, {});
  return graph;
}

Tree option(const char* name, Tree value) {
  Tree options = Tree::dict();
  options[name] = std::move(value);
  return options;
}

/// Linear 2-2, batch norm, linear 2-1. The rows of the first weight have L1 norms 3 and 7.
ir::Graph perceptron() {
  ir::Graph graph = ir::parse(R"(graph "g" {
  module a : torch.nn.modules.linear.Linear = aten::linear() [weight=@a.weight, bias=@a.bias]
  module bn : torch.nn.modules.batchnorm.BatchNorm1d = aten::batch_norm(training=$training, momentum=0.1, eps=0.0, cudnn_enabled=true) [weight=@bn.weight, bias=@bn.bias, running_mean=@bn.running_mean, running_var=@bn.running_var]
  module b : torch.nn.modules.linear.Linear = aten::linear() [weight=@b.weight]
  tensor a.weight : float32[2, 2] parameter grad
  tensor a.bias : float32[2] parameter grad
  tensor bn.weight : float32[2] parameter grad
  tensor bn.bias : float32[2] parameter grad
  tensor bn.running_mean : float32[2] buffer
  tensor bn.running_var : float32[2] buffer
  tensor b.weight : float32[1, 2] parameter grad
  %x : float32[4, 2] = placeholder x
  %a : float32[4, 2] = call_module a aten::linear(input=%x)
  %bn : float32[4, 2] = call_module bn aten::batch_norm(input=%a)
  %b : float32[4, 1] = call_module b aten::linear(input=%bn)
  %output : float32[4, 1] = output output(value=%b)
})",
                              "graph");
  set(graph, "a.weight", {1, -2, 3, 4});
  set(graph, "a.bias", {5, 6});
  set(graph, "bn.weight", {7, 8});
  set(graph, "bn.bias", {9, 10});
  set(graph, "bn.running_mean", {11, 12});
  set(graph, "bn.running_var", {13, 14});
  set(graph, "b.weight", {16, 32});
  return graph;
}

}  // namespace

TEST_CASE("a layer twice as wide has every channel twice, read with half the weight") {
  const ir::Graph graph = scaled(perceptron(), option("factor", 2));
  CHECK(get(graph, "a.weight") == Floats{1, -2, 3, 4, 1, -2, 3, 4});
  CHECK(get(graph, "a.bias") == Floats{5, 6, 5, 6});
  CHECK(get(graph, "bn.weight") == Floats{7, 8, 7, 8});
  CHECK(get(graph, "bn.bias") == Floats{9, 10, 9, 10});
  CHECK(get(graph, "bn.running_mean") == Floats{11, 12, 11, 12});
  CHECK(get(graph, "bn.running_var") == Floats{13, 14, 13, 14});
  CHECK(get(graph, "b.weight") == Floats{8, 16, 8, 16});
  CHECK(graph.tensors.at("b.weight").value.shape() == Shape{1, 4});
}

TEST_CASE("half as many new channels copy the most important ones") {
  const ir::Graph graph = scaled(perceptron(), option("factor", 1.5));
  CHECK(get(graph, "a.weight") == Floats{1, -2, 3, 4, 3, 4});
  CHECK(get(graph, "b.weight") == Floats{16, 16, 16});
}

TEST_CASE("fractions of channels follow their channels") {
  ir::Graph graph = perceptron();
  const std::string format = "integer(8, 4, granularity=channel, channel_frac_width=";
  graph.node(graph.find_node("a")->id)
      .formats.emplace("weight", formats::parse_format(format + "[4, 6])"));
  const auto after = [&](double factor) {
    return scaled(graph, option("factor", factor)).find_node("a")->formats.at("weight").text();
  };
  CHECK(after(2) == format + "[4, 6, 4, 6])");
  CHECK(after(1.5) == format + "[4, 6, 6])");
  CHECK(after(0.5) == format + "[6])");
}

TEST_CASE("a narrower layer keeps the channel with the largest weights") {
  const ir::Graph graph = scaled(perceptron(), option("factor", 0.5));
  CHECK(get(graph, "a.weight") == Floats{3, 4});
  CHECK(get(graph, "a.bias") == Floats{6});
  CHECK(get(graph, "bn.running_var") == Floats{14});
  CHECK(get(graph, "b.weight") == Floats{32});
}

TEST_CASE("noise moves the weights of copies only and follows from the seed") {
  Tree options = option("factor", 2);
  options["noise"] = 0.01;
  const Floats one = get(scaled(perceptron(), options), "a.weight");
  CHECK(Floats(one.begin(), one.begin() + 4) == Floats{1, -2, 3, 4});
  for (std::size_t i = 4; i < 8; ++i) {
    CHECK(one[i] != one[i - 4]);
    CHECK(one[i] == Approx(one[i - 4]).epsilon(0.1));
  }
  CHECK(get(scaled(perceptron(), options), "a.weight") == one);
  options["seed"] = 1;
  CHECK(get(scaled(perceptron(), options), "a.weight") != one);
}

TEST_CASE("the random weights of a scaled model are those of a model built as wide") {
  const ir::Graph narrow = models::find_model("jsc-three-linear")->build({16}, 5, 3);
  Tree options = option("weights", "random");
  options["seed"] = 3;
  options["layers"]["seq_blocks_2"] = 2;
  options["layers"]["seq_blocks_4"] = 4;
  const ir::Graph wide = scaled(narrow, options);
  models::Builder builder("jsc-three-linear", "JscThreeLinear", {16}, 3);
  builder.container("seq_blocks", "Sequential");
  builder.batch_norm("seq_blocks.0");
  builder.relu("seq_blocks.1");
  int place = 2;
  for (std::int64_t width : {32, 64, 5}) {
    builder.linear("seq_blocks." + std::to_string(place++), width);
    builder.relu("seq_blocks." + std::to_string(place++));
  }
  ir::Graph built = builder.finish();
  built.history = wide.history;
  CHECK(ir::print(wide) == ir::print(built));
  for (const auto& [path, tensor] : built.tensors) {
    INFO(path);
    CHECK(wide.tensors.at(path).value.same_bits(tensor.value));
  }
}

TEST_CASE("random weights reset norms, and other channels stay") {
  ir::Graph graph = perceptron();
  const ir::Graph result = scaled(graph, [] {
    Tree options = option("factor", 2);
    options["weights"] = "random";
    return options;
  }());
  CHECK(get(result, "bn.weight") == Floats{1, 1, 1, 1});
  CHECK(get(result, "bn.bias") == Floats{0, 0, 0, 0});
  CHECK(get(result, "bn.running_mean") == Floats{0, 0, 0, 0});
  CHECK(get(result, "bn.running_var") == Floats{1, 1, 1, 1});
  for (float w : get(result, "b.weight")) CHECK(std::abs(w) <= 0.5f);  // 1 / sqrt(4 inputs)
  CHECK(std::set<float>{get(result, "b.weight")[0], get(result, "b.weight")[1]}.size() == 2);
}

TEST_CASE("groups name their layers, widths and why they keep them") {
  const auto groups =
      passes::channel_groups(models::find_model("jsc-three-linear")->build({16}, 5, 1));
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].nodes == std::vector<std::string>{"seq_blocks_2"});
  CHECK(groups[0].width == 16);
  CHECK(groups[0].may_scale);
  CHECK(groups[1].nodes == std::vector<std::string>{"seq_blocks_4"});
  CHECK(groups[1].may_scale);
  CHECK(groups[2].width == 5);
  CHECK_FALSE(groups[2].may_scale);
  CHECK(groups[2].reason == "its channels are the model's output ('seq_blocks_7')");
}

TEST_CASE("a transformer's residual and perceptron widths can be scaled, its heads cannot") {
  const models::ModelRow& row = *models::find_model("vit-tiny");
  std::vector<std::string> scaled;
  for (const auto& group : passes::channel_groups(row.build(row.sample_shape, row.classes, 1)))
    if (group.may_scale) scaled.push_back(join(group.nodes, " "));
  CHECK(scaled ==
        std::vector<std::string>{"patch_embed blocks_0_attn_proj blocks_0_mlp_2 blocks_1_attn_proj "
                                 "blocks_1_mlp_2 blocks_2_attn_proj blocks_2_mlp_2",
                                 "blocks_0_mlp_0", "blocks_1_mlp_0", "blocks_2_mlp_0"});
}

TEST_CASE("a decoder's gated perceptron width can be scaled") {
  std::vector<std::string> scaled;
  for (const auto& group :
       passes::channel_groups(models::find_model("llama-tiny")->build({4}, 8, 1)))
    if (group.may_scale) scaled.push_back(join(group.nodes, " "));
  CHECK(scaled == std::vector<std::string>{"layers_0_mlp_up_proj layers_0_mlp_gate_proj",
                                           "layers_1_mlp_up_proj layers_1_mlp_gate_proj"});
}

TEST_CASE("every chain of layers but the toys has layers to scale, and the last layer stays") {
  for (const models::ModelRow& row : models::model_table()) {
    const ir::Graph graph = row.build(row.sample_shape, row.classes, 1);
    if (graph.find_node("matmul")) continue;  // heads stay
    INFO(row.name);
    const auto groups = passes::channel_groups(graph);
    REQUIRE_FALSE(groups.empty());
    for (std::size_t i = 0; i + 1 < groups.size(); ++i) CHECK(groups[i].may_scale);
    CHECK_FALSE(groups.back().may_scale);
  }
}

TEST_CASE("channels pass a product of matrices and a transposed convolution over one dimension") {
  const ir::Graph graph = ir::parse(R"(graph "g" {
  module a : torch.nn.modules.linear.Linear = aten::linear() [weight=@a.weight]
  module up : torch.nn.modules.conv.ConvTranspose1d = aten::conv_transpose1d(stride=[2], padding=[0], output_padding=[0], groups=1, dilation=[1]) [weight=@up.weight]
  module b : torch.nn.modules.conv.Conv1d = aten::conv1d(stride=[1], padding=[0], dilation=[1], groups=1) [weight=@b.weight]
  tensor a.weight : float32[6, 4] parameter grad
  tensor up.weight : float32[6, 3, 2] parameter grad
  tensor b.weight : float32[2, 3, 1] parameter grad
  %x : float32[4, 4] = placeholder x
  %a : float32[4, 6] = call_module a aten::linear(input=%x)
  %mm : float32[4, 6] = call_function torch.mm aten::mm(self=%x, mat2=%a)
  %rows : float32[4, 6, 1] = call_method unsqueeze aten::unsqueeze(self=%mm, dim=2)
  %up : float32[4, 3, 2] = call_module up aten::conv_transpose1d(input=%rows)
  %b : float32[4, 2, 2] = call_module b aten::conv1d(input=%up)
  %output : float32[4, 2, 2] = output output(value=%b)
})",
                                    "graph");
  const auto groups = passes::channel_groups(graph);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].nodes == std::vector<std::string>{"a"});
  CHECK(groups[0].width == 6);
  CHECK(groups[0].may_scale);
  CHECK(groups[1].nodes == std::vector<std::string>{"up"});
  CHECK(groups[1].width == 3);
  CHECK(groups[1].may_scale);
}

TEST_CASE("an error leaves the graph unchanged") {
  ir::Graph graph = models::find_model("jsc-three-linear")->build({16}, 5, 1);
  const ir::Graph before = graph;
  Tree options = Tree::dict();
  options["layers"]["seq_blocks_2"] = 2;
  options["layers"]["seq_blocks_4"] = 0.3;
  passes::PassContext context;
  const std::string message =
      test::message_of(Fault::config, [&] { passes::ScaleChannels::run(graph, options, context); });
  CHECK_THAT(message, Catch::Contains("'seq_blocks_4' has width 16") && Catch::Contains("4.8"));
  CHECK(ir::print(graph) == ir::print(before));
  CHECK(graph.tensors.at("seq_blocks.2.weight")
            .value.same_bits(before.tensors.at("seq_blocks.2.weight").value));
}

}  // namespace mase
