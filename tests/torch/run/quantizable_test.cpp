// SPDX-License-Identifier: Apache-2.0
// Every quantizable op as PyTorch writes it (tests/fixtures/programs/quantizable_programs.py):
// imported, quantized on all its ports, run and exported, as layer, function, method and operator.
#include <ATen/ATen.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "passes/transform/quantize.hpp"
#include "torch/catch.hpp"
#include "torch/export/export_support.hpp"
#include "torch/export/torchscript.hpp"
#include "torch/fixtures.hpp"
#include "torch/run/executor.hpp"
#include "torch/run/tensors.hpp"

using namespace mase;
using namespace mase::test;

namespace {

/// Formats for every port of every quantizable op, as a user's configuration says it.
Tree all_formats() {
  Tree options = Tree::dict();
  options["by"] = Tree("type");
  for (const ir::OpRow& row : ir::op_table()) {
    if (!row.quantizable) continue;
    Tree& config = options[row.name]["config"];
    config["name"] = Tree("integer");
    for (const std::string& port : ir::port_names(row)) {
      config[port + "_width"] = Tree(port == "weight" ? 6 : 9);
      config[port + "_frac_width"] = Tree(port == "weight" ? 3 : 5);
    }
  }
  return options;
}

ir::Graph quantized(const Fixture& program) {
  ir::Graph graph = import_fixture(program);
  passes::PassContext context;
  passes::Quantize::run(graph, all_formats(), context);
  return graph;
}

/// What the programs show of an op: kinds of its nodes with the ports that got a format.
using Coverage = std::map<std::string, std::map<ir::NodeKind, std::set<std::string>>>;

Coverage coverage(const std::string& kind) {
  Coverage found;
  for (const Fixture& program : quantizable_programs()) {
    if (program.kind != kind) continue;
    const ir::Graph graph = quantized(program);
    for (const ir::NodeId id : graph.order()) {
      const ir::Node& node = graph.node(id);
      auto& ports = found[ir::classify(graph, node).op][node.kind];
      for (const auto& [port, format] : node.formats) ports.insert(port);
    }
  }
  return found;
}

/// Indices are no numbers to round.
bool holds_floats(const ir::OpRow& row, const std::string& port) {
  return row.name != "embedding" || port != "data_in";
}

/// Whether nodes of this kind had a format on every port of the op.
bool covers(const Coverage& found, const ir::OpRow& row, ir::NodeKind kind) {
  const auto op = found.find(std::string(row.name));
  if (op == found.end() || !op->second.contains(kind)) return false;
  const std::vector<std::string> wanted = ir::port_names(row);
  return std::ranges::all_of(wanted, [&](const std::string& port) {
    return !holds_floats(row, port) || op->second.at(kind).contains(port);
  });
}

bool is_layer(const ir::OpRow& row) {
  return std::ranges::any_of(ir::layer_table(),
                             [&](const ir::LayerRow& layer) { return layer.op == row.name; });
}

/// How the op is written when it is called; null for ops that are layers only.
const ir::CallRow* call_of(const ir::OpRow& row) {
  const auto call = std::ranges::find(ir::call_table(), row.name, &ir::CallRow::op);
  return call == ir::call_table().end() ? nullptr : &*call;
}

std::set<std::string> targets(const std::string& model, ir::NodeKind kind) {
  std::set<std::string> found;
  const ir::Graph graph = import_fixture(quantizable_program(model, "script"));
  for (const ir::NodeId id : graph.order())
    if (graph.node(id).kind == kind) found.insert(graph.node(id).target);
  return found;
}

std::vector<std::string> missing(const std::set<std::string>& found,
                                 const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  for (const std::string& name : wanted)
    if (!found.contains(name)) names.push_back(name);
  return names;
}

}  // namespace

TEST_CASE("every quantizable op stands in a program, with a format on each of its ports",
          "[quantizable]") {
  for (const char* kind : {"script", "trace"}) {
    const Coverage found = coverage(kind);
    for (const ir::OpRow& row : ir::op_table()) {
      if (!row.quantizable) continue;
      if (row.calls.front().target.starts_with("mase.")) continue;  // PyTorch cannot write it
      INFO(kind << ": " << row.name);
      const ir::CallRow* call = call_of(row);
      CHECK((is_layer(row) || call));
      if (is_layer(row)) CHECK(covers(found, row, ir::NodeKind::call_module));
      if (call) CHECK(covers(found, row, call->kind));
    }
  }
}

TEST_CASE("operators, torch functions and methods keep how they were written", "[quantizable]") {
  CHECK(missing(targets("QuantizableMethods", ir::NodeKind::call_method),
                {"add", "sub", "mul", "matmul", "bmm", "relu", "tanh"})
            .empty());
  CHECK(missing(targets("QuantizableMethods", ir::NodeKind::call_function),
                {"_operator.add", "_operator.sub", "_operator.mul", "_operator.matmul"})
            .empty());
  CHECK(missing(targets("QuantizableFunctions", ir::NodeKind::call_function),
                {"torch.add", "torch.sub", "torch.mul", "torch.matmul", "torch.bmm", "torch.relu",
                 "torch.selu", "torch.tanh", "torch.nn.functional.softsign", "torch._C._nn.gelu",
                 "torch.nn.functional.rms_norm", "torch._C._nn.scaled_dot_product_attention"})
            .empty());
}

TEST_CASE("quantizable programs give PyTorch's bits", "[quantizable]") {
  for (const Fixture& program : quantizable_programs()) {
    INFO(program.path);
    const ir::Graph graph = import_fixture(program);
    CHECK(ir::verify(graph).empty());
    CHECK(ir::print(ir::parse(ir::print(graph), "printed")) == ir::print(graph));
    torch::jit::Module stock = torch::jit::load(program.path);
    CHECK(same(evaluator_of(graph)->run(program.inputs), called(stock, program.inputs)));
  }
}

TEST_CASE("quantizable programs are exported with the executor's bits", "[quantizable]") {
  for (const Fixture& program : quantizable_programs()) {
    INFO(program.path);
    check_three_calls(import_fixture(program), program.inputs);
    check_three_calls(quantized(program), program.inputs);
  }
}

TEST_CASE("softsign is one node however PyTorch writes it", "[quantizable]") {
  for (const char* kind : {"script", "trace"}) {
    const ir::Graph layers = import_fixture(quantizable_program("QuantizableLayers", kind));
    REQUIRE(layers.modules.contains("softsign"));
    CHECK(layers.modules.at("softsign").op == "mase::softsign");
    const ir::Graph functions = import_fixture(quantizable_program("QuantizableFunctions", kind));
    REQUIRE(functions.find_node("softsign") != nullptr);
    CHECK(functions.find_node("softsign")->target == "torch.nn.functional.softsign");
    CHECK(functions.find_node("abs") == nullptr);
  }
}

TEST_CASE("formats for batch norm layers leave the function alone", "[quantizable]") {
  ir::Graph graph = import_fixture(quantizable_program("QuantizableFunctions", "script"));
  Tree options = Tree::dict();
  options["by"] = Tree("type");
  Tree& config = options["batch_norm2d"]["config"];
  config["name"] = Tree("integer");
  config["data_in_width"] = Tree(8);
  config["data_in_frac_width"] = Tree(4);
  passes::PassContext context;
  const passes::Result result = passes::Quantize::run(graph, options, context);
  CHECK_FALSE(result.changed);
  REQUIRE(result.notes.size() == 2);
  CHECK(result.notes[0].starts_with("left in float: "));
  CHECK(result.notes[1] == "'batch_norm2d' was not applied: the graph has no such op");
  CHECK(graph.find_node("batch_norm")->formats.empty());
}

TEST_CASE("batch norm without momentum averages over all batches", "[quantizable]") {
  const Fixture& program = quantizable_program("QuantizablePlainLayers", "script");
  ir::Graph graph = import_fixture(program);
  CHECK(graph.modules.at("batch_norm2d").attribute("momentum")->is_none());
  CHECK_FALSE(graph.modules.at("batch_norm1d").attribute("momentum")->is_none());

  const at::Tensor first = libtorch::copy_of(program.inputs[0]);
  const std::vector<at::Tensor> batches{first, first * 2, first + 3};
  at::Tensor mean = at::zeros(4), variance = at::zeros(4);
  Folder folder;
  libtorch::export_torchscript(graph, folder / "model.pt", {});
  torch::jit::Module exported = torch::jit::load(folder / "model.pt");
  exported.train();
  libtorch::Executor executor(graph, ir::Level::floating);
  executor.own_tensors();
  for (const at::Tensor& batch : batches) {
    mean += batch.mean({0, 2, 3}) / 3;
    variance += batch.var({0, 2, 3}) / 3;
    executor.run_training({batch});
    exported.forward({batch});
  }
  const torch::jit::Module layer = exported.attr("batch_norm2d").toModule();
  for (const auto& [name, wanted] : {std::pair("running_mean", mean), {"running_var", variance}}) {
    const at::Tensor run = executor.tensors().at(std::string("batch_norm2d.") + name);
    CHECK(at::allclose(run, wanted, 1e-5, 1e-6));
    CHECK(at::equal(layer.attr(name).toTensor(), run));
  }
  CHECK(layer.attr("num_batches_tracked").toTensor().item<std::int64_t>() == 3);
}
