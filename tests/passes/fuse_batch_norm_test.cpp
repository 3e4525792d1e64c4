// SPDX-License-Identifier: Apache-2.0
// The arithmetic of fuse_batch_norm on numbers worked out by hand.
#include <catch2/catch.hpp>

#include "driver/all_passes.hpp"
#include "ir/text.hpp"
#include "passes/runner.hpp"
#include "passes/tensor_values.hpp"

namespace mase {
namespace {

using test::get;
using test::set;

/// s = 3 / sqrt(4) = 1.5, t = 1 - 1.5 * 2 = -2 in the first channel; s = 1, t = 0 in the others.
void set_norm(ir::Graph& graph, std::size_t channels) {
  std::vector<float> weight(channels, 1), bias(channels, 0), mean(channels, 0),
      variance(channels, 1);
  weight[0] = 3, bias[0] = 1, mean[0] = 2, variance[0] = 4;
  set(graph, "bn.weight", weight);
  set(graph, "bn.bias", bias);
  set(graph, "bn.running_mean", mean);
  set(graph, "bn.running_var", variance);
}

ir::Graph fused(ir::Graph graph) {
  passes::PassContext context;
  passes::run_passes(graph, {{"fuse_batch_norm", Tree::dict(), {}}}, driver::all_passes(), context,
                     {});
  return graph;
}

const std::string norm = R"(
  module bn : torch.nn.modules.batchnorm.BatchNorm2d = aten::batch_norm(training=$training, momentum=0.1, eps=0.0, cudnn_enabled=true) [weight=@bn.weight, bias=@bn.bias, running_mean=@bn.running_mean, running_var=@bn.running_var]
)";

std::string norm_tensors(int channels) {
  std::string text;
  for (const char* name : {"weight", "bias", "running_mean", "running_var"})
    text += "  tensor bn." + std::string(name) + " : float32[" + std::to_string(channels) +
            "] buffer\n";
  return text;
}

}  // namespace

TEST_CASE("a batch norm after a convolution scales its output channels") {
  ir::Graph graph = ir::parse("graph \"g\" {" + norm +
                                  "  module conv : torch.nn.modules.conv.Conv2d = "
                                  "aten::conv2d(stride=[1, 1], padding=[1, 1], dilation=[1, 1], "
                                  "groups=1) [weight=@conv.weight, bias=@conv.bias]\n" +
                                  norm_tensors(2) + R"(
  tensor conv.weight : float32[2, 1, 1, 2] parameter grad
  tensor conv.bias : float32[2] parameter grad
  %x : float32[4, 1, 5, 5] = placeholder x
  %conv : float32[4, 2, 7, 6] = call_module conv aten::conv2d(input=%x)
  %bn : float32[4, 2, 7, 6] = call_module bn aten::batch_norm(input=%conv)
  %output : float32[4, 2, 7, 6] = output output(value=%bn)
})",
                              "graph");
  set_norm(graph, 2);
  set(graph, "conv.weight", {2, -4, 5, 6});
  set(graph, "conv.bias", {10, 20});
  const ir::Graph result = fused(graph);
  CHECK(get(result, "conv.weight") == std::vector<float>{3, -6, 5, 6});
  CHECK(get(result, "conv.bias") == std::vector<float>{13, 20});
  CHECK(result.find_node("bn") == nullptr);
  CHECK_FALSE(result.modules.contains("bn"));
}

TEST_CASE("a batch norm before a grouped convolution scales its input channels") {
  ir::Graph graph = ir::parse("graph \"g\" {" + norm +
                                  "  module conv : torch.nn.modules.conv.Conv2d = "
                                  "aten::conv2d(stride=[1, 1], padding=[0, 0], dilation=[1, 1], "
                                  "groups=2) [weight=@conv.weight, bias=@conv.bias]\n" +
                                  norm_tensors(2) + R"(
  tensor conv.weight : float32[2, 1, 1, 2] parameter grad
  tensor conv.bias : float32[2] parameter grad
  %x : float32[4, 2, 5, 5] = placeholder x
  %bn : float32[4, 2, 5, 5] = call_module bn aten::batch_norm(input=%x)
  %conv : float32[4, 2, 5, 4] = call_module conv aten::conv2d(input=%bn)
  %output : float32[4, 2, 5, 4] = output output(value=%conv)
})",
                              "graph");
  set_norm(graph, 2);
  set(graph, "conv.weight", {2, -4, 5, 6});
  set(graph, "conv.bias", {10, 20});
  const ir::Graph result = fused(graph);
  CHECK(get(result, "conv.weight") == std::vector<float>{3, -6, 5, 6});
  // b' = 10 + (2 - 4) * -2; the second group's channel has t = 0.
  CHECK(get(result, "conv.bias") == std::vector<float>{14, 20});
}

TEST_CASE("a batch norm alone becomes scale and shift") {
  ir::Graph graph = ir::parse("graph \"g\" {" + norm + norm_tensors(2) + R"(
  %x : float32[4, 2, 5, 5] = placeholder x
  %bn : float32[4, 2, 5, 5] = call_module bn aten::batch_norm(input=%x)
  %output : float32[4, 2, 5, 5] = output output(value=%bn)
})",
                              "graph");
  set_norm(graph, 2);
  const ir::Graph result = fused(graph);
  CHECK(get(result, "bn.weight") == std::vector<float>{1.5, 1});
  CHECK(get(result, "bn.bias") == std::vector<float>{-2, 0});
  CHECK(get(result, "bn.running_mean") == std::vector<float>{0, 0});
  CHECK(get(result, "bn.running_var") == std::vector<float>{1, 1});
}

}  // namespace mase
