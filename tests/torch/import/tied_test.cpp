// SPDX-License-Identifier: Apache-2.0
// Tensors with several names: one in the graph, in training, among the bits, and in an export. The
// model and the numbers are stock PyTorch's (fixtures/tied/make.py).
#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

// LibTorch's headers define a CHECK of their own, so Catch's must come after them.
#include "torch/export/export_support.hpp"

#include "torch/catch.hpp"

#include "base/npy.hpp"
#include "checkpoint/archive.hpp"
#include "checkpoint/coded_tensors.hpp"
#include "ir/text.hpp"
#include "test_paths.hpp"
#include "torch/export/torchscript.hpp"
#include "torch/import/torchscript.hpp"
#include "torch/run/tensors.hpp"
#include "torch/train/network.hpp"

using namespace mase;
using namespace mase::test;

namespace {

std::string tied_file(const std::string& name) {
  return std::string(MASE_TEST_FOLDER) + "/fixtures/tied/" + name;
}

std::vector<Array> tied_tokens() { return {read_npy(tied_file("tokens.npy"))}; }

ir::Graph tied(const std::string& kind) {
  backend::ImportOptions options;
  options.inputs = tied_tokens();
  return libtorch::import_torchscript(tied_file("tied." + kind + ".pt"), options);
}

at::Tensor tied_values(const std::string& name) {
  return libtorch::view_of(read_npy(tied_file(name + ".npy"))).clone();
}

at::Tensor exported_tensor(const torch::jit::Module& module, const std::string& name) {
  for (const auto& entry : module.named_attributes())
    if (entry.name == name) return entry.value.toTensor();
  return {};
}

/// Every name of an exported graph's tensors is there, and the names of one share its memory.
void check_exported_names(const ir::Graph& graph) {
  const Folder folder;
  libtorch::export_torchscript(graph, folder / "x.pt", checkpoint::extra_files(graph, {}));
  const torch::jit::Module module = torch::jit::load(folder / "x.pt");
  for (const auto& [path, tensor] : graph.tensors)
    for (const std::string& name : ir::names_of(path, tensor)) {
      INFO(name);
      const at::Tensor found = exported_tensor(module, name);
      REQUIRE(found.defined());
      CHECK(found.data_ptr() == exported_tensor(module, path).data_ptr());
    }
}

void set_port(ir::Graph& graph, const char* node, const char* port, const char* format) {
  ir::Node& found = graph.node(graph.find_node(node)->id);
  found.formats.insert_or_assign(port, formats::parse_format(format));
}

}  // namespace

TEST_CASE("a tensor with several names is one tensor of the graph", "[tied]") {
  for (const char* kind : {"script", "trace"}) {
    INFO(kind);
    const ir::Graph graph = tied(kind);
    CHECK(graph.tensors.at("embed.weight").other_names == std::vector<std::string>{"head.weight"});
    CHECK(graph.tensors.at("norm.num_batches_tracked").other_names.size() == 1);
    CHECK(*graph.modules.at("head").tensor("weight") == "embed.weight");
    CHECK(graph.find_node("head")->kind == ir::NodeKind::call_module);
    // 28 of the table, 20 of the layer, 8 of the norm, 7 of the head's bias.
    std::int64_t parameters = 0;
    for (const auto& [path, tensor] : graph.tensors)
      if (tensor.is_parameter) parameters += tensor.value.size();
    CHECK(parameters == 63);
    CHECK(at::allclose(libtorch::view_of(executed(graph, tied_tokens())[0].second),
                       tied_values("output")));
    CHECK(ir::print(ir::parse(ir::print(graph), "text")) == ir::print(graph));
    check_three_calls(graph, tied_tokens());
    check_exported_names(graph);
  }
}

TEST_CASE("the gradient of a tied tensor is that of all its uses", "[tied]") {
  ir::Graph graph = tied("script");
  libtorch::Executor executor(graph, ir::Level::quantized);
  executor.own_tensors();
  train::Parameters parameters(graph, executor.tensors(), {});
  CHECK(train::make_layer_network(executor, parameters) == nullptr);
  const auto network = train::make_autograd_network(executor, parameters);
  network->begin_step(true);
  const at::Tensor output = network->forward({libtorch::view_of(tied_tokens()[0])}).front();
  network->backward({output.detach() * 0.01 + 0.002});
  for (const char* path :
       {"embed.weight", "first.weight", "first.bias", "norm.weight", "norm.bias", "head.bias"}) {
    INFO(path);
    // Terms of about 1e-2; in front of a norm those of a bias add up to 0 but for their rounding.
    CHECK(at::allclose(parameters.find(path)->gradient,
                       tied_values(std::string("gradient_") + path), 1e-5, 1e-6));
  }
  // Both names of the norm have seen the batch.
  executor.store_tensors(graph);
  CHECK(graph.tensors.at("norm.num_batches_tracked").value.span<std::int64_t>()[0] == 2);
}

TEST_CASE("each user of a tied tensor may have a format of its own", "[tied]") {
  ir::Graph graph = tied("script");
  set_port(graph, "embed", "weight", "integer(8, 6)");
  set_port(graph, "head", "weight", "integer(4, 2)");
  check_three_calls(graph, tied_tokens());
  check_exported_names(graph);
  // One format for both: the codes alone are enough, and they have both names.
  set_port(graph, "head", "weight", "integer(8, 6)");
  const ir::Graph coded = checkpoint::with_codes_alone(graph);
  REQUIRE(coded.tensors.at("embed.weight").coded);
  check_three_calls(coded, tied_tokens());
  const Folder folder;
  libtorch::export_torchscript(coded, folder / "x.pt", checkpoint::extra_files(coded, {}));
  const torch::jit::Module module = torch::jit::load(folder / "x.pt");
  CHECK(exported_tensor(module, "embed.weight_codes").data_ptr() ==
        exported_tensor(module, "head.weight_codes").data_ptr());
}
