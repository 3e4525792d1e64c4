// SPDX-License-Identifier: Apache-2.0
// The built-in transformers against the outputs of the same networks in PyTorch.
#include "base/text.hpp"
#include "models/registry.hpp"
#include "torch/catch.hpp"
#include "torch/run/executor.hpp"

using namespace mase;

namespace {

/// ((37 i + 11 k) mod 61 - 30) / 128 as element i of tensor k, and one more for the scales of
/// norms.
void fill_weights(ir::Graph& graph) {
  std::int64_t k = 0;
  for (const std::string& path : graph.tensor_order) {
    ir::Tensor& tensor = graph.tensors.at(path);
    if (!tensor.is_parameter) continue;
    const bool scale =
        lower_case(path).find("norm") != std::string::npos && path.ends_with(".weight");
    std::int64_t i = 0;
    for (float& value : tensor.value.mutable_span<float>())
      value = static_cast<float>((37 * i++ + 11 * k) % 61 - 30) / 128.0F + (scale ? 1.0F : 0.0F);
    ++k;
  }
}

/// The output for one row.
std::vector<float> output_of(const std::string& model, const Array& row, int classes) {
  const Shape& shape = row.shape();
  ir::Graph graph =
      models::find_model(model)->build(Shape(shape.begin() + 1, shape.end()), classes, 0);
  fill_weights(graph);
  const auto results = libtorch::make_evaluator(graph, ir::Level::floating)->run({row});
  const auto values = results.front().second.span<float>();
  return {values.begin(), values.end()};
}

Array ids(const std::vector<std::int64_t>& values) {
  return Array::from(values, {1, static_cast<std::int64_t>(values.size())});
}

void check_close(std::span<const float> values, const std::vector<float>& expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(values[i] == Approx(expected[i]).margin(2e-5));
}

}  // namespace

TEST_CASE("llama-tiny computes what the Llama of Hugging Face computes") {
  // LlamaForCausalLM of transformers 5.24 with hidden_size 64, intermediate_size 192, 4 heads, 2 of
  // keys and values, rms_norm_eps 1e-5: tokens 0, 2 and 5.
  const std::vector<float> scores = output_of("llama-tiny", ids({3, 1, 4, 1, 5, 2}), 8);
  REQUIRE(scores.size() == 48);
  const std::span all(scores);
  check_close(all.subspan(0, 8),
              {0.8013F, 0.60664F, -0.08302F, 1.23936F, -1.16641F, 1.00094F, -0.26604F, -0.04412F});
  check_close(all.subspan(16, 8),
              {0.04768F, -0.55121F, 0.49212F, 0.2612F, -0.40057F, 0.35792F, -0.58537F, 0.03579F});
  check_close(all.subspan(40, 8),
              {0.45902F, 0.80239F, -0.8283F, 0.07642F, -0.09563F, -0.09305F, 1.187F, -0.63223F});
}

TEST_CASE("transformer-jets computes what PyTorch's layers compute") {
  // nn.Linear, positions, 2 x (LayerNorm, MultiheadAttention, LayerNorm, Linear, GELU, Linear),
  // LayerNorm, mean and Linear of PyTorch 2.13.
  const Array row = Array::from<float>({0.5F, -1.25F, 2.0F, 0.75F}, {1, 4});
  check_close(output_of("transformer-jets", row, 5),
              {0.82401F, -1.52957F, 1.98036F, -1.46017F, 0.40642F});
}

TEST_CASE("bert-tiny computes what the BERT of Hugging Face computes") {
  // BertForSequenceClassification of transformers 5.24 with hidden_size 128, 2 layers and heads,
  // intermediate_size 512, and embeddings of token types that are 0.
  check_close(output_of("bert-tiny", ids({7, 200, 31, 7, 90}), 3), {-2.46164F, 2.04041F, 0.56871F});
}
