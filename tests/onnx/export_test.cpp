// SPDX-License-Identifier: Apache-2.0
// Exports: imported again they are the same graph, also from a file, and what was changed in the
// file is read from its nodes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "ir/text.hpp"
#include "models/registry.hpp"
#include "onnx/export.hpp"
#include "onnx/import.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace mase::onnx {
namespace {

ir::Graph built_in(const std::string& name) {
  const models::ModelRow& row = *models::find_model(name);
  return row.build(row.sample_shape, row.classes, 0);
}

std::string text_of(const ir::Graph& graph) { return ir::print(graph, {.metadata = false}); }

ir::Graph imported(const Model& model) { return import_model(model, {.path = "m.onnx"}).graph; }

void require_same_values(const ir::Graph& a, const ir::Graph& b) {
  REQUIRE(a.tensor_order == b.tensor_order);
  for (const auto& [path, tensor] : a.tensors) {
    INFO(path);
    CHECK(tensor.value.same_bits(b.tensors.at(path).value));
  }
}

Node& node_of(Model& model, const std::string& op) {
  return *std::ranges::find(model.graph.nodes, op, &Node::op);
}

TEST_CASE("Every built-in model is exported, and the import is the same graph") {
  for (const models::ModelRow& row : models::model_table()) {
    INFO(row.name);
    const ir::Graph graph = row.build(row.sample_shape, row.classes, 0);
    const ir::Graph again = imported(export_model(graph, {}));
    CHECK(text_of(again) == text_of(graph));
    require_same_values(graph, again);
    const ir::Graph third = imported(export_model(again, {}));
    CHECK(text_of(third) == text_of(graph));
  }
}

TEST_CASE("A file keeps what an export says") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("m.onnx");
  const ir::Graph graph = built_in("bert-tiny");
  write_model(export_model(graph, {}), path);
  const ir::Graph again = imported(read_model(path));
  CHECK(text_of(again) == text_of(graph));
  require_same_values(graph, again);
}

TEST_CASE("Without the stored graph, layers and tensors are found by their names") {
  const ir::Graph graph = built_in("lenet");
  Model model = export_model(graph, {});
  model.metadata.clear();
  const ir::Graph again = imported(model);
  CHECK(again.modules.size() == graph.modules.size());
  for (const auto& [path, module] : graph.modules) {
    INFO(path);
    REQUIRE(again.modules.contains(path));
    CHECK(again.modules.at(path).class_name == module.class_name);
    CHECK(again.modules.at(path).tensors == module.tensors);
  }
}

TEST_CASE("A node that was changed in the file is read as it is now") {
  const ir::Graph graph = built_in("toy");
  Model model = export_model(graph, {});
  node_of(model, "Relu").op = "Sigmoid";
  const ir::Graph again = imported(model);
  const auto count = [&](const std::string& op) {
    return std::ranges::count_if(again.order(),
                                 [&](ir::NodeId id) { return again.node(id).op == op; });
  };
  CHECK(count("aten::sigmoid") == 1);
  CHECK(count("aten::linear") == 3);
  CHECK(again.modules.size() == graph.modules.size() - 1);
}

TEST_CASE("A stored graph that says other than the nodes of its file is not believed") {
  const ir::Graph graph = built_in("toy");
  Model model = export_model(graph, {});
  for (auto& [key, value] : model.metadata) {
    const std::size_t at = value.find("aten::relu");
    if (key == "mase.graph" && at != std::string::npos) value.replace(at, 10, "aten::tanh");
  }
  const ir::Graph again = imported(model);
  CHECK(text_of(again).find("aten::tanh") == std::string::npos);
  CHECK(text_of(again).find("aten::relu") != std::string::npos);
}

TEST_CASE("Shapes and tensors are those of the file, not those of the stored graph") {
  const ir::Graph graph = built_in("toy");
  Model model = export_model(graph, {});
  (*model.graph.inputs.at(0).shape)[0] = {7, ""};
  Tensor& weight = model.graph.initializers.at(0);
  weight.value = Array(weight.value.dtype(), weight.value.shape());
  const ir::Graph again = imported(model);
  CHECK(again.node(again.placeholders().at(0)).info.shape[0] == 7);
  CHECK(again.tensors.at(weight.name).value.same_bits(weight.value));
  Model narrow = export_model(graph, {});
  narrow.opsets[""] = 20;
  CHECK(imported(narrow).order().size() == graph.order().size());
}

TEST_CASE("The batch is a symbol, other sizes are numbers") {
  const Model model = export_model(built_in("lenet"), {});
  const auto& shape = *model.graph.inputs.at(0).shape;
  CHECK(shape[0].symbol == "batch");
  CHECK(shape[1].size == 1);
  CHECK((*model.graph.outputs.at(0).shape)[0].symbol == "batch");
  CHECK((*model.graph.outputs.at(0).shape)[1].size == 10);
}

TEST_CASE("The batch is fixed where the graph has its size as a constant") {
  const ir::Graph graph = ir::parse(
      "graph \"g\" {\n"
      "  %x : float32[4, 6] = placeholder x\n"
      "  %view : float32[4, 2, 3] = call_method view aten::view(self=%x, size=[4, 2, 3])\n"
      "  %output : float32[4, 2, 3] = output output(value=%view)\n"
      "}\n",
      "test");
  const Model model = export_model(graph, {});
  CHECK((*model.graph.inputs.at(0).shape)[0].size == 4);
  CHECK((*model.graph.outputs.at(0).shape)[0].size == 4);
}

TEST_CASE("All nodes that ONNX cannot say are named at once") {
  const ir::Graph graph = ir::parse(
      "graph \"g\" {\n"
      "  %x : float32[4, 6] = placeholder x\n"
      "  %a : float32[4, 6] = call_function torch.special.entr aten::special_entr(self=%x)\n"
      "  %b : float32[4, 6] = call_function torch.erfinv aten::erfinv(self=%a)\n"
      "  %output : float32[4, 6] = output output(value=%b)\n"
      "}\n",
      "test");
  const std::string message =
      test::message_of(Fault::unsupported, [&] { export_model(graph, {}); });
  CHECK(message.find("a (aten::special_entr)") != std::string::npos);
  CHECK(message.find("b (aten::erfinv)") != std::string::npos);
}

TEST_CASE("An opset that exports are not in is refused") {
  CHECK(test::message_of(Fault::config, [] {
          export_model(built_in("toy"), {.opset = 12});
        }).find("21 to 23") != std::string::npos);
}

}  // namespace
}  // namespace mase::onnx
