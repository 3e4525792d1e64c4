// SPDX-License-Identifier: Apache-2.0
// The reference networks: nodes as in the fixtures, parameter counts, shapes, initial weights.
#include "models/registry.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "ir/verify.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::models;
using Catch::Contains;

namespace {

ir::Graph build(const std::string& name, std::uint64_t seed = 0) {
  const ModelRow* row = find_model(name);
  REQUIRE(row);
  return row->build(row->sample_shape, row->classes, seed);
}

std::int64_t parameters(const ir::Graph& graph) {
  std::int64_t count = 0;
  for (const auto& [path, tensor] : graph.tensors)
    if (tensor.is_parameter) count += tensor.value.size();
  return count;
}

/// "kind name target class" per node, as the columns of a fixture's fx.txt.
std::string described(const ir::Graph& graph) {
  std::string text;
  for (ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const bool layer = node.kind == ir::NodeKind::call_module;
    text += std::string(kind_name(node.kind)) + " " + node.name + " " + node.target + " " +
            (layer ? graph.module_of(node).class_name : "-") + "\n";
  }
  return text;
}

std::string fixture(const std::string& name) {
  std::string text;
  for (const std::string& line :
       split(read_file(MASE_TEST_FOLDER "/fixtures/models/" + name + "/fx.txt"), '\n')) {
    const auto columns = split(line, '\t');
    if (columns.size() < 6 || columns[0] == "op") continue;
    text += columns[0] + " " + columns[1] + " " + columns[2] + " " + columns[5] + "\n";
  }
  return text;
}

std::string error_of(const std::string& model, const Shape& shape, int classes) {
  try {
    find_model(model)->build(shape, classes, 0);
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::config);
    return error.what();
  }
  return "(nothing was thrown)";
}

}  // namespace

TEST_CASE("networks that are also fixtures have the fixtures' nodes") {
  CHECK(described(build("jsc-tiny")) == fixture("jsc_tiny"));
  CHECK(described(build("jsc-mlp")) == fixture("jsc_s"));
  CHECK(described(build("lenet")) == fixture("lenet"));
}

TEST_CASE("parameter counts are those of the literature, the fixtures or stock layers") {
  CHECK(parameters(build("jsc-tiny")) == 117);  // as the reference system states
  CHECK(parameters(build("jsc-mlp")) == 4655);  // fixture jsc_s
  CHECK(parameters(build("lenet")) == 20554);   // fixture lenet
  CHECK(parameters(build("jsc-toy")) == 32 + 136 + 16 + 72 + 16 + 45 + 10);
  CHECK(parameters(build("jsc-s")) == 32 + 1088 + 128 + 2080 + 1056 + 1056 + 165 + 10);
  CHECK(parameters(build("jsc-three-linear")) == 32 + 272 + 272 + 85);
  CHECK(parameters(build("toy")) == 6280 + 72 + 90);
  CHECK(parameters(build("toy-tiny")) == 10);
  CHECK(parameters(build("lfc")) == 402974);
  CHECK(parameters(build("vgg7")) == 14029450);  // summed over torch.nn layers of these sizes
  CHECK(parameters(build("cnv")) == 1547722);
  const int block =
      2 * 128 + (64 * 192 + 192) + (64 * 64 + 64) + (64 * 128 + 128) + (128 * 64 + 64);
  // 5.7 million, as the paper's table 1 has it.
  CHECK(parameters(build("deit-tiny")) == 5'717'416);
  CHECK(parameters(build("vit-tiny")) == 64 * 49 + 64 + 16 * 64 + 3 * block + 128 + 650);
  const int jets = 2 * 64 + (32 * 96 + 96) + (32 * 32 + 32) + (32 * 64 + 64) + (64 * 32 + 32);
  CHECK(parameters(build("transformer-jets")) == 64 + 16 * 32 + 2 * jets + 64 + 165);
  const int bert = 4 * (128 * 128 + 128) + 2 * 256 + (128 * 512 + 512) + (512 * 128 + 128);
  CHECK(parameters(build("bert-tiny")) ==
        256 * 128 + 32 * 128 + 256 + 2 * bert + (128 * 128 + 128) + 258);
  const int decoder = 2 * 64 + 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 192;
  CHECK(parameters(build("llama-tiny")) == 2 * 256 * 64 + 2 * decoder + 64);
}

TEST_CASE("the lab's network has linear layers at blocks 2, 4 and 6") {
  const ir::Graph graph = build("jsc-three-linear");
  for (const char* name : {"seq_blocks_2", "seq_blocks_4", "seq_blocks_6"}) {
    const ir::Node* node = graph.find_node(name);
    REQUIRE(node);
    CHECK(graph.module_of(*node).short_class() == "Linear");
  }
}

TEST_CASE("every network is sound and ends in scores of the classes") {
  for (const ModelRow& row : model_table()) {
    INFO(row.name);
    const ir::Graph graph = row.build(row.sample_shape, row.classes, 0);
    CHECK(ir::verify(graph) == std::vector<std::string>{});
    CHECK(graph.name == row.name);
    Shape scores{1, row.classes};
    if (row.dataset == "text") scores.insert(scores.begin() + 1, row.sample_shape.front());
    CHECK(graph.node(graph.output()).info.shape == scores);
    CHECK(graph.tensor_order.size() == graph.tensors.size());
    for (const auto& [path, module] : graph.modules)
      if (const std::size_t dot = path.rfind('.'); dot != std::string::npos)
        CHECK(graph.containers.contains(path.substr(0, dot)));
  }
}

TEST_CASE("shapes follow the layers") {
  const ir::Graph lenet = build("lenet");
  const auto shape = [](const ir::Graph& graph, const char* node) {
    return graph.find_node(node)->info.shape;
  };
  // 28 - 4 = 24, halved 12, - 4 = 8, halved 4; 16 channels of 4 x 4 are 256 features.
  CHECK(shape(lenet, "conv1") == Shape{1, 8, 24, 24});
  CHECK(shape(lenet, "pool1") == Shape{1, 8, 12, 12});
  CHECK(shape(lenet, "flatten") == Shape{1, 256});
  CHECK(shape(build("vgg7"), "view") == Shape{1, 8192});
  CHECK(shape(build("cnv"), "flatten") == Shape{1, 256});
}

TEST_CASE("attention parts the heads of one layer") {
  const ir::Graph vit = build("vit-tiny");
  const auto shape = [&](const char* node) { return vit.find_node(node)->info.shape; };
  CHECK(shape("pos_embed") == Shape{1, 16, 64});
  CHECK(shape("blocks_0_attn_qkv") == Shape{1, 16, 192});
  CHECK(shape("permute") == Shape{3, 1, 4, 16, 16});
  CHECK(shape("softmax") == Shape{1, 4, 16, 16});
  CHECK(shape("blocks_2_mlp_0") == Shape{1, 16, 128});
  CHECK(shape("mean") == Shape{1, 64});
  CHECK_THAT(error_of("vit-tiny", {1, 5, 28}, 10), Contains("too small for layer patch_embed"));
}

TEST_CASE("jets are tokens of a feature, or particles of several") {
  const ModelRow& row = *find_model("transformer-jets");
  const ir::Graph features = build("transformer-jets"), particles = row.build({32, 3}, 5, 0);
  CHECK(features.find_node("reshape")->info.shape == Shape{1, 16, 1});
  CHECK(features.find_node("embed")->info.shape == Shape{1, 16, 32});
  CHECK(particles.tensors.at("embed.weight").value.shape() == Shape{32, 3});
  CHECK(particles.find_node("softmax")->info.shape == Shape{1, 2, 32, 32});
  CHECK(parameters(particles) - parameters(features) == 2 * 32 + 16 * 32);
  CHECK_THAT(error_of("transformer-jets", {2, 3, 4}, 5), Contains("[tokens, inputs]"));
}

TEST_CASE("a decoder shares keys and values, and sees no later token") {
  const ir::Graph llama = find_model("llama-tiny")->build({3}, 5, 0);
  const auto shape = [&](const char* node) { return llama.find_node(node)->info.shape; };
  CHECK(llama.find_node("x")->info.dtype == DType::int64);
  CHECK(shape("embed_tokens") == Shape{1, 3, 64});
  CHECK(shape("transpose_1") == Shape{1, 2, 3, 16});
  CHECK(shape("repeat_interleave") == Shape{1, 4, 3, 16});
  CHECK(shape("lm_head") == Shape{1, 3, 5});
  const auto later = llama.tensors.at("mask").value.span<bool>();
  CHECK(std::vector<bool>(later.begin(), later.end()) ==
        std::vector<bool>{false, true, true, false, false, true, false, false, false});
  CHECK_THAT(error_of("llama-tiny", {3, 4}, 5), Contains("embed_tokens needs rows of [tokens]"));
}

TEST_CASE("a table of embeddings is normal") {
  double sum = 0, square = 0;
  const ir::Graph llama = build("llama-tiny");
  const auto table = llama.tensors.at("embed_tokens.weight").value.span<float>();
  for (const float value : table) sum += value, square += value * value;
  const auto count = static_cast<double>(table.size());
  CHECK(std::fabs(sum / count) < 5 / std::sqrt(count));
  CHECK(std::fabs(square / count - 1) < 5 * std::sqrt(2 / count));
}

TEST_CASE("state_dict keys are those of torch.nn") {
  const ir::Graph graph = build("jsc-tiny");
  CHECK(graph.tensor_order == std::vector<std::string>{"seq_blocks.0.weight", "seq_blocks.0.bias",
                                                       "seq_blocks.0.running_mean",
                                                       "seq_blocks.0.running_var",
                                                       "seq_blocks.0.num_batches_tracked",
                                                       "seq_blocks.2.weight", "seq_blocks.2.bias"});
  CHECK(graph.tensors.at("seq_blocks.0.num_batches_tracked").value.dtype() == DType::int64);
  CHECK(graph.tensors.at("seq_blocks.0.num_batches_tracked").value.shape().empty());
  CHECK_FALSE(graph.tensors.at("seq_blocks.0.running_var").is_parameter);
  CHECK(graph.tensors.at("seq_blocks.0.running_var").value.span<float>()[3] == 1.0f);
  CHECK(graph.tensors.at("seq_blocks.2.bias").requires_grad);
}

TEST_CASE("initial weights are uniform within the bound of their fan-in") {
  const ir::Graph graph = build("toy", 7);
  const double bound = 1.0 / 28;  // 784 inputs
  double sum = 0, square = 0;
  const auto weights = graph.tensors.at("seq_blocks.0.weight").value.span<float>();
  for (float weight : weights) {
    REQUIRE(std::fabs(weight) <= bound);
    sum += weight;
    square += weight * weight;
  }
  const double count = static_cast<double>(weights.size());
  // A uniform distribution has variance bound^2 / 3; allow five standard errors.
  CHECK(std::fabs(sum / count) < 5 * bound / std::sqrt(3 * count));
  CHECK(square / count == Approx(bound * bound / 3).epsilon(0.06));
}

TEST_CASE("the seed decides the weights and tensors differ from each other") {
  const auto weights = [](std::uint64_t seed, const char* path) {
    return build("jsc-s", seed).tensors.at(path).value;
  };
  CHECK(weights(1, "module_list.5.weight").same_bits(weights(1, "module_list.5.weight")));
  CHECK_FALSE(weights(1, "module_list.5.weight").same_bits(weights(2, "module_list.5.weight")));
  CHECK_FALSE(weights(1, "module_list.7.weight").same_bits(weights(1, "module_list.9.weight")));
}

TEST_CASE("networks adapt to the data") {
  const ModelRow* tiny = find_model("jsc_tiny");
  REQUIRE(tiny);
  CHECK(parameters(tiny->build({8}, 3, 0)) == 16 + 27);
  const ir::Graph lenet = find_model("lenet")->build({3, 32, 32}, 7, 0);
  CHECK(lenet.find_node("flatten")->info.shape == Shape{1, 400});
  CHECK(find_model("jsc") == nullptr);
}

TEST_CASE("rows that a network cannot take are refused") {
  CHECK_THAT(error_of("jsc-s", {1, 28, 28}, 10), Contains("jsc-s") && Contains("[1, 28, 28]"));
  CHECK_THAT(error_of("lenet", {16}, 5), Contains("lenet") && Contains("channels"));
  CHECK_THAT(error_of("lenet", {1, 8, 8}, 10), Contains("too small"));
  CHECK_THAT(error_of("cnv", {3, 13, 32}, 10), Contains("too small"));
  CHECK_THAT(error_of("toy", {}, 10), Contains("at least 1"));
  CHECK_THAT(error_of("toy", {0, 4}, 10), Contains("at least 1"));
  CHECK_THAT(error_of("toy", {4}, 0), Contains("at least one output"));
}
