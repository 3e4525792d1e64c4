// SPDX-License-Identifier: Apache-2.0
// Masks of attention at the level `quantized`, in the executor and in TorchScript: masked elements
// are 0, whatever the format, and a row of them, too.
#include <cmath>
#include <limits>

#include "checkpoint/coded_tensors.hpp"
#include "torch/catch.hpp"
#include "torch/export/export_support.hpp"
#include "torch/export/torchscript.hpp"
#include "torch/small_graphs.hpp"

using namespace mase;
using namespace mase::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float least = std::numeric_limits<float>::lowest();
const Shape shape{2, 3, 4};

/// softmax(x + mask), or of the mask as an input, by a function or a layer.
ir::Graph attention(const std::string& format, const std::optional<Array>& mask, bool as_layer) {
  small_graphs::Maker make("Masked");
  const ir::NodeId x = make.input("x", shape);
  if (mask) make.graph.set_tensor("mask", {*mask, false, false});
  const ir::NodeId other = mask ? make.attribute("mask") : make.input("mask", {2, 1, 4});
  const auto info = ir::ValueInfo::tensor(DType::float32, shape);
  const ir::NodeId sum = make.call("add", "aten::add.Tensor",
                                   {{"self", ir::NodeRef{x}}, {"other", ir::NodeRef{other}}}, info);
  const ir::Module layer{"soft",
                         "torch.nn.modules.activation.Softmax",
                         "aten::softmax.int",
                         {{"dim", ir::Value(-1)}},
                         {}};
  const ir::NodeId y = as_layer
                           ? make.layer(layer, "self", sum, shape)
                           : make.call("softmax", "aten::softmax.int",
                                       {{"self", ir::NodeRef{sum}}, {"dim", ir::Value(-1)}}, info);
  for (const ir::NodeId id : {sum, y})
    make.graph.node(id).formats.emplace("data_in", formats::parse_format(format));
  return make.finish(ir::NodeRef{y});
}

/// Scores far below what formats of 8 bits hold.
Array low_scores() { return Array::from(std::vector<float>(24, -1000.0F), shape); }

std::vector<float> result_of(const ir::Graph& graph, const std::vector<Array>& inputs) {
  const Array result = executed(graph, inputs).front().second;
  return {result.span<float>().begin(), result.span<float>().end()};
}

}  // namespace

TEST_CASE("masked elements are 0 in every format, the others share what is left", "[export]") {
  for (const std::string format :
       {"integer(8, 4)", "fp8_e4m3", "mxint8", "log(8, 2)", "scale_integer(8)"})
    for (const float mask : {-infinity, least})
      for (const bool as_layer : {false, true})
        for (const bool constant : {false, true}) {
          INFO(format << " " << mask << " " << as_layer << " " << constant);
          const Array row = Array::from<float>({0, mask, 0, mask}, {4});
          const Array rows =
              Array::from<float>({0, mask, 0, mask, mask, mask, mask, mask}, {2, 1, 4});
          const ir::Graph graph =
              attention(format, constant ? std::optional(row) : std::nullopt, as_layer);
          std::vector<Array> inputs{low_scores()};
          if (!constant) inputs.push_back(rows);
          const std::vector<float> found = result_of(graph, inputs);
          for (std::size_t i = 0; i < found.size(); ++i)
            CHECK(found[i] == (!constant && i >= 12 ? 0.0F : i % 2 == 0 ? 0.5F : 0.0F));
          check_three_calls(graph, inputs);
        }
}

TEST_CASE("masks that a batched product is added to stay masks, as those of MultiheadAttention",
          "[export]") {
  for (const std::string format : {"integer(8, 4)", "mxint8", "nvfp4", "block_fp(8, 8)"}) {
    INFO(format);
    small_graphs::Maker make("Attention");
    const ir::NodeId mask = make.input("mask", shape);
    const ir::NodeId q = make.input("q", {2, 3, 2}), k = make.input("k", {2, 2, 4});
    const auto info = ir::ValueInfo::tensor(DType::float32, shape);
    const ir::NodeId scores = make.call(
        "scores", "aten::baddbmm",
        {{"self", ir::NodeRef{mask}}, {"batch1", ir::NodeRef{q}}, {"batch2", ir::NodeRef{k}}},
        info);
    const ir::NodeId y = make.call("softmax", "aten::softmax.int",
                                   {{"self", ir::NodeRef{scores}}, {"dim", ir::Value(-1)}}, info);
    make.graph.node(scores).formats.emplace("bias", formats::parse_format(format));
    make.graph.node(y).formats.emplace("data_in", formats::parse_format(format));
    const ir::Graph graph = make.finish(ir::NodeRef{y});
    std::vector<float> masks;
    for (int row = 0; row < 6; ++row) masks.insert(masks.end(), {0, -infinity, 0, -infinity});
    const std::vector<Array> inputs{Array::from(masks, shape),
                                    Array::from(std::vector<float>(12, -4.0F), {2, 3, 2}),
                                    Array::from(std::vector<float>(16, 4.0F), {2, 2, 4})};
    const std::vector<float> found = result_of(graph, inputs);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == (i % 2 == 0 ? 0.5F : 0.0F));
    check_three_calls(graph, inputs);
  }
}

TEST_CASE("a constant mask stays in floats where codes are stored alone", "[export]") {
  const Array row = Array::from<float>({0, -infinity, 0, least}, {4});
  const ir::Graph coded = checkpoint::with_codes_alone(attention("integer(8, 4)", row, false));
  CHECK_FALSE(coded.tensors.at("mask").coded);
}
