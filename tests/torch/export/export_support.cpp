// SPDX-License-Identifier: Apache-2.0
// What the export tests share: quantizing every port, running an archive by TorchScript, comparing.
#include "torch/export/export_support.hpp"

#include <torch/csrc/jit/serialization/import.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include "torch/catch.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "ir/op_table.hpp"
#include "ir/verify.hpp"
#include "torch/export/torchscript.hpp"
#include "torch/run/executor.hpp"
#include "torch/run/tensors.hpp"
#include "torch/small_graphs.hpp"

namespace mase::test {

Folder::Folder() {
  static int count = 0;
  path = (std::filesystem::temp_directory_path() /
          ("mase_export_" + std::to_string(getpid()) + "_" + std::to_string(count++)))
             .string();
  make_folder(path);
}

Folder::~Folder() { std::filesystem::remove_all(path); }

void quantize_all(ir::Graph& graph) {
  for (const ir::NodeId id : std::vector<ir::NodeId>(graph.order())) {
    ir::Node& node = graph.node(id);
    const ir::Classified op = ir::classify(graph, node);
    if (op.row == nullptr || !op.row->quantizable) continue;
    for (const ir::Port& port : ir::ports(graph, node)) {
      const bool weight = port.name == "weight";
      node.formats.emplace(port.name,
                           formats::parse_format(weight ? "integer(6, 4)" : "integer(8, 4)"));
    }
    node.formats.emplace("data_out", formats::parse_format("integer_floor(10, 5)"));
  }
}

std::vector<Array> inputs_of(const ir::Graph& graph) {
  std::vector<Array> inputs;
  for (const ir::NodeId id : graph.placeholders())
    inputs.push_back(small_graphs::normal(graph.node(id).info.shape, 100 + inputs.size()));
  return inputs;
}

ir::Results executed(const ir::Graph& graph, const std::vector<Array>& inputs) {
  return libtorch::make_evaluator(graph, ir::Level::quantized)->run(inputs);
}

ir::Results called(torch::jit::Module& module, const std::vector<Array>& inputs) {
  std::vector<c10::IValue> values;
  for (const Array& input : inputs) values.emplace_back(libtorch::copy_of(input));
  c10::InferenceMode guard;
  return libtorch::results_of(module.forward(values));
}

ir::Results called(const std::string& path, const std::vector<Array>& inputs) {
  torch::jit::Module module = torch::jit::load(path);
  return called(module, inputs);
}

bool same(const ir::Results& a, const ir::Results& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].first != b[i].first || !a[i].second.same_bits(b[i].second)) return false;
  return true;
}

void check_three_calls(const ir::Graph& graph, const std::vector<Array>& inputs) {
  REQUIRE(ir::verify(graph).empty());
  Folder folder;
  libtorch::export_torchscript(graph, folder / "model.pt", {});
  checkpoint::open_model(folder / "model.pt");
  torch::jit::Module module = torch::jit::load(folder / "model.pt");
  const ir::Results expected = executed(graph, inputs);
  for (int call = 0; call < 3; ++call) CHECK(same(expected, called(module, inputs)));
}

void write_stock_case(const ir::Graph& graph, const std::vector<Array>& inputs,
                      const std::string& folder) {
  make_folder(folder);
  libtorch::export_torchscript(graph, folder + "/checkpoint.pt",
                               checkpoint::extra_files(graph, Tree::dict()));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    write_npy(folder + "/input_" + std::to_string(i) + ".npy", inputs[i]);
  for (const auto& [name, value] : executed(graph, inputs))
    write_npy(folder + "/output" + (name.empty() ? "" : "_" + name) + ".npy", value);
  const bool coded = std::ranges::any_of(
      graph.tensors, [](const auto& entry) { return bool(entry.second.coded); });
  if (!coded) write_file(folder + "/keys.txt", join(graph.tensor_order, "\n") + "\n");
}

std::vector<std::string> state_names(const torch::jit::Module& module) {
  std::vector<std::string> names;
  for (const auto& entry : module.named_attributes())
    if (entry.value.isTensor()) names.push_back(entry.name);
  return names;
}

}  // namespace mase::test
