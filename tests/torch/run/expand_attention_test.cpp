// SPDX-License-Identifier: Apache-2.0
// expand_attention on what stock PyTorch runs as one operator: masks, both kinds of layers,
// products.
#include "torch/catch.hpp"

#include "driver/all_passes.hpp"
#include "passes/runner.hpp"
#include "passes/transform/expand_attention.hpp"
#include "test_paths.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/torchscript.hpp"

namespace mase::test {
namespace {

std::string program(const std::string& name) {
  return std::string(MASE_TEST_FOLDER) + "/fixtures/programs/" + name;
}

ir::Graph import_attention(const std::string& name) {
  backend::ImportOptions options;
  options.inputs = {read_npy(program("example.npy"))};
  return libtorch::import_torchscript(program(name + ".pt"), options);
}

ir::Graph run_passes(ir::Graph graph, const std::vector<passes::PassCall>& calls) {
  passes::PassContext context;
  passes::run_passes(graph, calls, driver::all_passes(), context, {});
  return graph;
}

ir::Graph expanded(const ir::Graph& graph) {
  return run_passes(graph, {{"expand_attention", Tree::dict(), {}}});
}

int fused_nodes(const ir::Graph& graph) {
  int count = 0;
  for (const ir::NodeId id : graph.order())
    count += passes::ExpandAttention::applies(graph.node(id)) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("attention taken apart computes what the operator computed") {
  for (const auto& [name, nodes] : {std::pair{"TracedAttention", 1}, std::pair{"TracedLayers", 3},
                                    std::pair{"TracedProducts", 3}, std::pair{"TracedMasks", 1}}) {
    INFO(name);
    const ir::Graph fused = import_attention(name);
    CHECK(fused_nodes(fused) == nodes);
    const ir::Graph plain = expanded(fused);
    CHECK(fused_nodes(plain) == 0);
    const Array x = read_npy(program("example.npy"));
    CHECK(largest_difference(evaluator_of(plain)->run({x}), evaluator_of(fused)->run({x})) < 1e-6);
    // What is noted of each node is what it gives.
    evaluator_of(plain)->run(
        {x}, [&](const ir::Node& node, const std::string& port, const Array& value) {
          INFO(node.name);
          if (port == "data_out" && node.info.is_tensor()) CHECK(node.info.shape == value.shape());
        });
  }
}

TEST_CASE("attention taken apart takes other batches, and lengths where the operator does") {
  const ir::Graph fused = import_attention("TracedLayers");
  Array x(DType::float32, {5, 7, 4});
  auto values = x.mutable_span<float>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i % 11) / 7 - 1;
  CHECK(largest_difference(evaluator_of(expanded(fused))->run({x}), evaluator_of(fused)->run({x})) <
        1e-6);
}

TEST_CASE("behind expand_attention every matrix of an encoder layer gets a format") {
  const auto call = [](const char* format) {
    Tree options = Tree::dict();
    Tree& config = options["default"]["config"];
    config["name"] = format;
    for (const char* port : {"weight", "bias", "data_in"}) {
      config[std::string(port) + "_width"] = 8;
      config[std::string(port) + "_frac_width"] = 5;
    }
    return passes::PassCall{"quantize", options, {}};
  };
  const auto share_of = [&](const ir::Graph& graph) {
    ir::Graph copy = graph;
    passes::PassContext context;
    return passes::run_passes(copy, {call("integer")}, driver::all_passes(), context, {})
        .front()
        .result;
  };
  const passes::Result before = share_of(import_attention("TracedLayers"));
  CHECK(before.info.at("float").at("float_parameters") == before.info.at("float").at("parameters"));
  REQUIRE_FALSE(before.notes.empty());
  CHECK(before.notes.front().find("left in float: ") == 0);
  CHECK(before.notes.front().find("[passes.expand_attention]") != std::string::npos);
  const passes::Result after = share_of(expanded(import_attention("TracedLayers")));
  CHECK(after.info.at("float").at("float_parameters").as_int() == 0);
  CHECK(after.info.at("float").at("float_macs").as_int() == 0);
  CHECK(after.info.at("float").at("macs") == before.info.at("float").at("macs"));
}

}  // namespace mase::test
