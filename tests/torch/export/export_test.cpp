// SPDX-License-Identifier: Apache-2.0
// Tests of the export: an archive loaded by TorchScript computes the bits of the executor, keeps
// paths and order of the state_dict, carries our files, and comes back as the same graph.
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <set>
#include "torch/catch.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "checkpoint/archive.hpp"
#include "ir/text.hpp"
#include "models/registry.hpp"
#include "torch/export/export_support.hpp"
#include "torch/export/torchscript.hpp"
#include "torch/run/tensors.hpp"
#include "torch/small_graphs.hpp"

using namespace mase;
using namespace mase::test;
using namespace small_graphs;
using libtorch::export_torchscript;

namespace {

std::vector<ir::Graph> all_small_graphs() {
  return {perceptron(), residual(), dict_of_parts(), shared_layer()};
}

}  // namespace

TEST_CASE("exported graphs compute the executor's bits on three calls", "[export]") {
  for (const ir::Graph& graph : all_small_graphs()) {
    INFO(graph.containers.at(""));
    check_three_calls(graph, inputs_of(graph));
  }
}

TEST_CASE("exported quantized graphs compute the executor's bits on three calls", "[export]") {
  for (ir::Graph graph : all_small_graphs()) {
    INFO(graph.containers.at(""));
    quantize_all(graph);
    check_three_calls(graph, inputs_of(graph));
  }
}

TEST_CASE("a sum on top of a product is rounded as the executor rounds it", "[export]") {
  Maker maker("Addmm");
  // Enough terms that a product and a sum of their own would round otherwise.
  const ir::NodeId bias = maker.input("bias", {3}), x = maker.input("x", {2, 1000}),
                   weight = maker.input("weight", {1000, 3});
  const auto added = [&](const std::string& name, std::vector<ir::Argument> factors) {
    std::vector<ir::Argument> args{
        {"self", ir::NodeRef{bias}}, {"mat1", ir::NodeRef{x}}, {"mat2", ir::NodeRef{weight}}};
    args.insert(args.end(), factors.begin(), factors.end());
    return ir::Value(ir::NodeRef{maker.call(name, "aten::addmm", std::move(args),
                                            ir::ValueInfo::tensor(DType::float32, {2, 3}))});
  };
  const std::vector<ir::Value> sums{added("plain", {}),
                                    added("ones", {{"beta", 1}, {"alpha", 1.0}}),
                                    added("scaled", {{"beta", 0.5}})};
  const ir::Graph graph = maker.finish(ir::Value::tuple({sums.begin(), sums.end()}));
  check_three_calls(graph, inputs_of(graph));
}

TEST_CASE("registry models are exported with their bits, float and quantized", "[export]") {
  for (const char* name : {"jsc-tiny", "jsc-mlp", "lenet"}) {
    INFO(name);
    const models::ModelRow* row = models::find_model(name);
    REQUIRE(row != nullptr);
    ir::Graph graph = row->build(row->sample_shape, row->classes, 1);
    check_three_calls(graph, inputs_of(graph));
    quantize_all(graph);
    check_three_calls(graph, inputs_of(graph));
  }
}

TEST_CASE("a layer called with different formats becomes one module with several methods",
          "[export]") {
  ir::Graph graph = shared_layer();
  ir::Node& first = graph.node(graph.find_node("fc")->id);
  first.formats.emplace("weight", formats::parse_format("integer(4, 2)"));
  check_three_calls(graph, inputs_of(graph));
  Folder folder;
  export_torchscript(graph, folder / "model.pt", {});
  const auto module = torch::jit::load(folder / "model.pt");
  const auto layer = module.attr("fc").toModule();
  CHECK(layer.find_method("forward"));
  CHECK(layer.find_method("forward1"));
  CHECK(state_names(module) == std::vector<std::string>{"scale", "fc.weight", "fc.bias"});
}

TEST_CASE("ports of one format and rank call one quantizer", "[export]") {
  Folder folder;
  ir::Graph graph = perceptron();
  for (const ir::NodeId id : graph.order()) {
    ir::Node& node = graph.node(id);
    if (node.kind != ir::NodeKind::call_module || node.target == "seq.blocks.1") continue;
    for (const char* port : {"data_in", "weight", "bias"})
      node.formats.emplace(port, formats::parse_format("mxint8"));
  }
  export_torchscript(graph, folder / "model.pt", {});
  const auto module = torch::jit::load(folder / "model.pt");
  std::size_t quantizers = 0;
  for (const torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions())
    quantizers += function->qualname().prefix() == "__torch__.mase.quantizers" ? 1 : 0;
  CHECK(quantizers == 2);  // matrices and vectors
}

TEST_CASE("state_dict names, order and flags are the graph's", "[export]") {
  for (const ir::Graph& graph : all_small_graphs()) {
    Folder folder;
    export_torchscript(graph, folder / "model.pt", {});
    const auto module = torch::jit::load(folder / "model.pt");
    std::set<std::string> parameters;
    for (const auto& entry : module.named_parameters()) {
      parameters.insert(entry.name);
      CHECK(entry.value.requires_grad() == graph.tensors.at(entry.name).requires_grad);
    }
    for (const auto& [path, tensor] : graph.tensors)
      CHECK(parameters.contains(path) == tensor.is_parameter);
    CHECK(state_names(module) == graph.tensor_order);
  }
}

TEST_CASE("every class name of an exported module tree is unique", "[export]") {
  Folder folder;
  ir::Graph graph = perceptron();
  quantize_all(graph);
  export_torchscript(graph, folder / "model.pt", {});
  std::set<std::string> names;
  const auto module = torch::jit::load(folder / "model.pt");
  for (const auto& child : module.modules()) {
    CHECK(names.insert(child.type()->name()->qualifiedName()).second);
    CHECK_FALSE(child.is_training());
  }
  CHECK(names.size() == 6);  // root, seq, blocks and three layers
}

TEST_CASE("training mode counts batches and passes gradients straight through", "[export]") {
  Folder folder;
  ir::Graph graph = residual();
  quantize_all(graph);
  export_torchscript(graph, folder / "model.pt", {});
  torch::jit::Module module = torch::jit::load(folder / "model.pt");
  module.train();
  at::AutoGradMode guard(true);
  at::Tensor input = libtorch::copy_of(inputs_of(graph)[0]).requires_grad_(true);
  const at::Tensor output = module.forward({input}).toTensor();
  output.sum().backward();
  CHECK(input.grad().abs().sum().item<float>() > 0.0F);
  CHECK(module.attr("bn").toModule().attr("weight").toTensor().grad().defined());
  CHECK(module.attr("bn").toModule().attr("num_batches_tracked").toTensor().item<int>() == 1);
}

TEST_CASE("a checkpoint comes back as the same graph", "[export]") {
  Folder folder;
  for (ir::Graph source : all_small_graphs()) {
    quantize_all(source);
    source.history.push_back(Tree("quantize"));
    const std::string path = folder / "a.b c.pt";
    export_torchscript(source, path, checkpoint::extra_files(source, Tree::dict()));
    auto contents = checkpoint::read_contents(path);
    REQUIRE(contents);
    checkpoint::load_tensors(contents->archive, contents->graph);
    CHECK(ir::print(contents->graph) == ir::print(source));
    CHECK(checkpoint::tensor_hash(contents->graph) == checkpoint::tensor_hash(source));
  }
}

TEST_CASE("the same graph gives the same bytes under any file name", "[export]") {
  Folder folder;
  ir::Graph graph = residual();
  quantize_all(graph);
  export_torchscript(graph, folder / "one.pt", checkpoint::extra_files(graph, Tree::dict()));
  export_torchscript(graph, folder / "two.pt", checkpoint::extra_files(graph, Tree::dict()));
  CHECK(read_file(folder / "one.pt") == read_file(folder / "two.pt"));
}

TEST_CASE("a failed export names the node and leaves the old file", "[export]") {
  Folder folder;
  write_file(folder / "model.pt", "old");
  ir::Graph graph = residual();
  graph.node(graph.find_node("relu")->id).op = "aten::no_such_operator";
  try {
    export_torchscript(graph, folder / "model.pt", {});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::unsupported);
    CHECK_THAT(error.what(), Catch::Contains("'relu'") && Catch::Contains("no_such_operator"));
  }
  CHECK(read_file(folder / "model.pt") == "old");
}
