// SPDX-License-Identifier: Apache-2.0
// Tests of the export on the stored PyTorch models: imported, exported, run by TorchScript,
// imported again; and the cases that stock PyTorch runs in tests/torch/export/check_stock.py.
#include <torch/csrc/jit/serialization/import.h>

#include <cstdlib>
#include "torch/catch.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "ir/text.hpp"
#include "torch/export/export_support.hpp"
#include "torch/export/torchscript.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/torchscript.hpp"

using namespace mase;
using namespace mase::test;
using libtorch::export_torchscript;

namespace {

/// Kinds and names. Targets may differ: TorchScript does not say whether a function or a method was
/// written (torch.flatten(x), x.flatten()).
std::string node_names(const ir::Graph& graph) {
  std::string text;
  for (const FxNode& node : nodes_of(graph))
    text += node.name + (node.op == "call_module" ? " layer " + node.target : "") + "\n";
  return text;
}

}  // namespace

TEST_CASE("exported fixtures compute the executor's bits on three calls", "[export]") {
  for (const Fixture& fixture : fixtures()) {
    INFO(fixture.path);
    ir::Graph graph = import_fixture(fixture);
    check_three_calls(graph, fixture.inputs);
    quantize_all(graph);
    check_three_calls(graph, fixture.inputs);
  }
}

TEST_CASE("exported fixtures keep state_dict names and come back with the same nodes", "[export]") {
  for (const Fixture& fixture : fixtures()) {
    INFO(fixture.path);
    const ir::Graph graph = import_fixture(fixture);
    Folder folder;
    export_torchscript(graph, folder / "model.pt", {});
    CHECK(state_names(torch::jit::load(folder / "model.pt")) ==
          state_names(torch::jit::load(fixture.path)));
    backend::ImportOptions options;
    options.inputs = fixture.inputs;
    const ir::Graph again = libtorch::import_torchscript(folder / "model.pt", options);
    CHECK(node_names(again) == node_names(graph));
  }
}

TEST_CASE("a fixture's checkpoint comes back as the same graph", "[export]") {
  for (const Fixture& fixture : fixtures()) {
    INFO(fixture.path);
    ir::Graph graph = import_fixture(fixture);
    quantize_all(graph);
    Folder folder;
    export_torchscript(graph, folder / "m.pt", checkpoint::extra_files(graph, Tree::dict()));
    auto contents = checkpoint::read_contents(folder / "m.pt");
    REQUIRE(contents);
    checkpoint::load_tensors(contents->archive, contents->graph);
    CHECK(ir::print(contents->graph) == ir::print(graph));
    CHECK(same(executed(contents->graph, fixture.inputs), executed(graph, fixture.inputs)));
  }
}

TEST_CASE("cases for stock PyTorch are written when a folder is named", "[export][stock]") {
  const char* folder = std::getenv("MASE_STOCK_FOLDER");
  if (folder == nullptr) return;
  std::vector<Fixture> all = fixtures();
  all.insert(all.end(), quantizable_programs().begin(), quantizable_programs().end());
  for (const Fixture& fixture : all) {
    const std::string name = std::string(folder) + "/" + fixture.model + "_" + fixture.kind;
    ir::Graph graph = import_fixture(fixture);
    write_stock_case(graph, fixture.inputs, name);
    quantize_all(graph);
    write_stock_case(graph, fixture.inputs, name + "_quantized");
  }
}
