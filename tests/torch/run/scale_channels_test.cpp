// SPDX-License-Identifier: Apache-2.0
// scale_channels on real models and on a graph of every rule: the function stays, and every noted
// shape is the one that a run yields.
#include <cmath>

#include "base/random.hpp"
#include "driver/all_passes.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "passes/channels/channel_groups.hpp"
#include "passes/runner.hpp"
#include "torch/fixtures.hpp"

namespace mase::test {
namespace {

/// Every group that may be scaled gets the factor, through its first layer's name.
ir::Graph scaled(ir::Graph graph, double factor, const std::string& weights = "inherit") {
  Tree options = Tree::dict();
  options["weights"] = weights;
  options["layers"] = Tree::dict();
  for (const passes::ChannelGroup& group : passes::channel_groups(graph))
    if (group.may_scale && std::fmod(double(group.width) * factor, 1.0) == 0)
      options["layers"][group.nodes.front()] = factor;
  passes::PassContext context;
  passes::run_passes(graph, {{"scale_channels", options, {}}}, driver::all_passes(), context, {});
  CHECK(ir::verify(graph).empty());
  return graph;
}

ir::Results run_and_compare_shapes(const ir::Graph& graph, const std::vector<Array>& inputs) {
  return evaluator_of(graph)->run(
      inputs, [&](const ir::Node& node, const std::string& port, const Array& value) {
        if (port == "data_out" && node.info.is_tensor() && value.shape() != node.info.shape)
          FAIL_CHECK("node " << node.name << " is noted as " << shape_text(node.info.shape)
                             << " and yields " << shape_text(value.shape()));
      });
}

std::size_t scalable(const ir::Graph& graph) {
  std::size_t count = 0;
  for (const passes::ChannelGroup& group : passes::channel_groups(graph)) count += group.may_scale;
  return count;
}

/// One path through every rule: groups, depthwise after a concatenation, norms, a view that takes
/// channels apart, a transposed convolution, numbers read from shapes.
const char* const many_rules = R"(graph "rules" {
  module c1 : torch.nn.modules.conv.Conv2d = aten::conv2d(stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1) [weight=@c1.weight, bias=@c1.bias]
  module c2 : torch.nn.modules.conv.Conv2d = aten::conv2d(stride=[1, 1], padding=[0, 0], dilation=[1, 1], groups=1) [weight=@c2.weight]
  module dw : torch.nn.modules.conv.Conv2d = aten::conv2d(stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=10) [weight=@dw.weight, bias=@dw.bias]
  module act : torch.nn.modules.activation.PReLU = aten::prelu() [weight=@act.weight]
  module mix : torch.nn.modules.conv.Conv2d = aten::conv2d(stride=[1, 1], padding=[0, 0], dilation=[1, 1], groups=1) [weight=@mix.weight, bias=@mix.bias]
  module gn : torch.nn.modules.normalization.GroupNorm = aten::group_norm(num_groups=4, eps=1e-05) [weight=@gn.weight, bias=@gn.bias]
  module gc : torch.nn.modules.conv.Conv2d = aten::conv2d(stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=4) [weight=@gc.weight, bias=@gc.bias]
  module up : torch.nn.modules.conv.ConvTranspose2d = aten::conv_transpose2d.input(stride=[2, 2], padding=[0, 0], output_padding=[0, 0], groups=1, dilation=[1, 1]) [weight=@up.weight, bias=@up.bias]
  module ug : torch.nn.modules.conv.ConvTranspose2d = aten::conv_transpose2d.input(stride=[1, 1], padding=[0, 0], output_padding=[0, 0], groups=3, dilation=[1, 1]) [weight=@ug.weight, bias=@ug.bias]
  module bn : torch.nn.modules.batchnorm.BatchNorm2d = aten::batch_norm(training=$training, momentum=0.1, eps=1e-05, cudnn_enabled=true) [weight=@bn.weight, bias=@bn.bias, running_mean=@bn.running_mean, running_var=@bn.running_var]
  module squeeze : torch.nn.modules.linear.Linear = aten::linear() [weight=@squeeze.weight, bias=@squeeze.bias]
  module excite : torch.nn.modules.linear.Linear = aten::linear() [weight=@excite.weight, bias=@excite.bias]
  module f1 : torch.nn.modules.linear.Linear = aten::linear() [weight=@f1.weight, bias=@f1.bias]
  module ln : torch.nn.modules.normalization.LayerNorm = aten::layer_norm(normalized_shape=[8], eps=1e-05) [weight=@ln.weight, bias=@ln.bias]
  module c3 : torch.nn.modules.conv.Conv1d = aten::conv1d(stride=[1], padding=[1], dilation=[1], groups=1) [weight=@c3.weight, bias=@c3.bias]
  module f2 : torch.nn.modules.linear.Linear = aten::linear() [weight=@f2.weight, bias=@f2.bias]
  tensor c1.weight : float32[4, 3, 3, 3] parameter grad
  tensor c1.bias : float32[4] parameter grad
  tensor c2.weight : float32[6, 3, 1, 1] parameter grad
  tensor dw.weight : float32[20, 1, 3, 3] parameter grad
  tensor dw.bias : float32[20] parameter grad
  tensor act.weight : float32[20] parameter grad
  tensor mix.weight : float32[8, 20, 1, 1] parameter grad
  tensor mix.bias : float32[8] parameter grad
  tensor gn.weight : float32[8] parameter grad
  tensor gn.bias : float32[8] parameter grad
  tensor gc.weight : float32[12, 2, 3, 3] parameter grad
  tensor gc.bias : float32[12] parameter grad
  tensor up.weight : float32[12, 6, 2, 2] parameter grad
  tensor up.bias : float32[6] parameter grad
  tensor ug.weight : float32[6, 2, 1, 1] parameter grad
  tensor ug.bias : float32[6] parameter grad
  tensor bn.weight : float32[6] parameter grad
  tensor bn.bias : float32[6] parameter grad
  tensor bn.running_mean : float32[6] buffer
  tensor bn.running_var : float32[6] buffer
  tensor squeeze.weight : float32[2, 6] parameter grad
  tensor squeeze.bias : float32[2] parameter grad
  tensor excite.weight : float32[6, 2] parameter grad
  tensor excite.bias : float32[6] parameter grad
  tensor f1.weight : float32[24, 384] parameter grad
  tensor f1.bias : float32[24] parameter grad
  tensor shift : float32[8] parameter grad
  tensor ln.weight : float32[8] parameter grad
  tensor ln.bias : float32[8] parameter grad
  tensor c3.weight : float32[8, 3, 3] parameter grad
  tensor c3.bias : float32[8] parameter grad
  tensor f2.weight : float32[5, 64] parameter grad
  tensor f2.bias : float32[5] parameter grad
  %x : float32[2, 3, 4, 4] = placeholder x
  %shift : float32[8] = get_attr shift
  %c1 : float32[2, 4, 4, 4] = call_module c1 aten::conv2d(input=%x)
  %c2 : float32[2, 6, 4, 4] = call_module c2 aten::conv2d(input=%x)
  %cat : float32[2, 10, 4, 4] = call_function torch.cat aten::cat(tensors=[%c1, %c2], dim=1)
  %dw : float32[2, 20, 4, 4] = call_module dw aten::conv2d(input=%cat)
  %act : float32[2, 20, 4, 4] = call_module act aten::prelu(self=%dw)
  %mix : float32[2, 8, 4, 4] = call_module mix aten::conv2d(input=%act)
  %gn : float32[2, 8, 4, 4] = call_module gn aten::group_norm(input=%mix)
  %gc : float32[2, 12, 4, 4] = call_module gc aten::conv2d(input=%gn)
  %up : float32[2, 6, 8, 8] = call_module up aten::conv_transpose2d.input(input=%gc)
  %ug : float32[2, 6, 8, 8] = call_module ug aten::conv_transpose2d.input(input=%up)
  %bn : float32[2, 6, 8, 8] = call_module bn aten::batch_norm(input=%ug)
  %mean : float32[2, 6] = call_method mean aten::mean.dim(self=%bn, dim=[2, 3])
  %squeeze : float32[2, 2] = call_module squeeze aten::linear(input=%mean)
  %relu : float32[2, 2] = call_function torch.nn.functional.relu aten::relu(self=%squeeze)
  %excite : float32[2, 6] = call_module excite aten::linear(input=%relu)
  %size : int = call_method size aten::size.int(self=%bn, dim=1)
  %view : float32[2, 6, 1, 1] = call_method view aten::view(self=%excite, size=[-1, %size, 1, 1])
  %mul : float32[2, 6, 8, 8] = call_function _operator.mul aten::mul.Tensor(self=%bn, other=%view)
  %flatten : float32[2, 384] = call_function torch.flatten aten::flatten.using_ints(self=%mul, start_dim=1)
  %f1 : float32[2, 24] = call_module f1 aten::linear(input=%flatten)
  %view_1 : float32[2, 3, 8] = call_method view aten::view(self=%f1, size=[2, 3, 8])
  %c3 : float32[2, 8, 8] = call_module c3 aten::conv1d(input=%view_1)
  %transpose : float32[2, 8, 8] = call_method transpose aten::transpose.int(self=%c3, dim0=1, dim1=2)
  %ln : float32[2, 8, 8] = call_module ln aten::layer_norm(input=%transpose)
  %add : float32[2, 8, 8] = call_function _operator.add aten::add.Tensor(self=%ln, other=%shift)
  %reshape : float32[2, 64] = call_method reshape aten::reshape(self=%add, shape=[2, 64])
  %f2 : float32[2, 5] = call_module f2 aten::linear(input=%reshape)
  %output : float32[2, 5] = output output(value=%f2)
})";

ir::Graph rules_graph() {
  ir::Graph graph = ir::parse(many_rules, "rules");
  std::uint64_t stream = 0;
  for (auto& [path, tensor] : graph.tensors) {
    Random random(7, stream++);
    for (float& value : tensor.value.mutable_span<float>())
      value = static_cast<float>(path.ends_with("running_var") ? random.uniform(0.5, 2)
                                                               : random.normal() / 2);
  }
  return graph;
}

Array rules_input() {
  Array input(DType::float32, {2, 3, 4, 4});
  Random random(11);
  for (float& value : input.mutable_span<float>()) value = static_cast<float>(random.normal());
  return input;
}

}  // namespace

TEST_CASE("wider models that inherit their weights compute the same") {
  for (const Fixture& fixture : fixtures()) {
    const ir::Graph original = import_fixture(fixture);
    for (double factor : {1.5, 2.0, 3.0}) {
      INFO(fixture.path << ", factor " << factor << ", " << scalable(original) << " groups");
      const ir::Graph graph = scaled(original, factor);
      CHECK(largest_difference(run_and_compare_shapes(graph, fixture.inputs), fixture.outputs) <=
            2e-4);
    }
  }
}

TEST_CASE("every hidden layer of a plain network is a group of its own") {
  CHECK(scalable(import_fixture(fixture("jsc_tiny", "script"))) == 0);
  CHECK(scalable(import_fixture(fixture("toy", "script"))) == 2);
  CHECK(scalable(import_fixture(fixture("lenet", "script"))) == 3);
  CHECK(scalable(import_fixture(fixture("jsc_s", "script"))) == 3);
}

TEST_CASE("query, key and value of an attention change their number of heads together") {
  const auto groups = passes::channel_groups(import_fixture(fixture("encoder_tiny", "script")));
  REQUIRE_FALSE(groups.empty());
  CHECK(groups[0].nodes == std::vector<std::string>{"block_attention_query", "block_attention_key",
                                                    "block_attention_value"});
  CHECK(groups[0].may_scale);
}

TEST_CASE("narrower and random models run with the noted shapes") {
  for (const Fixture& fixture : fixtures())
    for (const char* weights : {"inherit", "random"})
      for (double factor : {0.5, 2.0}) {
        INFO(fixture.path << ", " << weights << ", factor " << factor);
        const ir::Graph graph = scaled(import_fixture(fixture), factor, weights);
        const ir::Results results = run_and_compare_shapes(graph, fixture.inputs);
        REQUIRE(results.size() == fixture.outputs.size());
        CHECK(results.front().second.shape() == fixture.outputs.front().second.shape());
      }
}

TEST_CASE("a graph of every rule keeps its function at whole factors and its shapes at others") {
  const ir::Graph original = rules_graph();
  const std::vector<Array> inputs{rules_input()};
  const ir::Results before = run_and_compare_shapes(original, inputs);
  for (const passes::ChannelGroup& group : passes::channel_groups(original)) {
    INFO(group.nodes.front() << ": " << group.reason);
    CHECK(group.may_scale == (group.nodes.front() != "f2"));
  }
  for (double factor : {2.0, 3.0, 4.0}) {
    INFO("factor " << factor);
    const ir::Graph graph = scaled(original, factor);
    CHECK(largest_difference(run_and_compare_shapes(graph, inputs), before) <= 1e-4);
  }
  for (double factor : {0.5, 1.5}) run_and_compare_shapes(scaled(original, factor), inputs);
}

TEST_CASE("the groups of a graph of every rule are the layers whose channels meet") {
  std::vector<std::pair<std::vector<std::string>, std::int64_t>> found;
  for (const passes::ChannelGroup& group : passes::channel_groups(rules_graph()))
    found.emplace_back(group.nodes, group.width);
  // c1 and c2 share the depthwise layer; mix moves in the 4 groups of gn and gc; up, ug and excite
  // move in the 3 groups of ug; f1 in the 3 rows of the view; the last two are seen by nobody else.
  using Names = std::vector<std::string>;
  const decltype(found) expected{{Names{"c1", "dw"}, 4},  {Names{"c2", "dw"}, 6},
                                 {Names{"mix", "gc"}, 4}, {Names{"up", "ug", "excite"}, 3},
                                 {Names{"squeeze"}, 2},   {Names{"f1"}, 3},
                                 {Names{"c3"}, 8},        {Names{"f2"}, 5}};
  CHECK(found == expected);
}

}  // namespace mase::test
