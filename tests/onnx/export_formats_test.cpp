// SPDX-License-Identifier: Apache-2.0
// Number formats in exports: which operators say them, that masks stay, and that what a dialect
// cannot say is named.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "ir/text.hpp"
#include "onnx/export.hpp"
#include "onnx/import.hpp"
#include "support/message_of.hpp"

namespace mase::onnx {
namespace {

using Ops = std::vector<std::string>;

/// A graph whose only node has these formats.
ir::Graph relu_in(const std::string& formats) {
  return ir::parse(
      "graph \"g\" {\n"
      "  %x : float32[4, 6] = placeholder x\n"
      "  %y : float32[4, 6] = call_function torch.relu aten::relu(self=%x) {" +
          formats +
          "}\n"
          "  %output : float32[4, 6] = output output(value=%y)\n"
          "}\n",
      "test");
}

Model exported(const ir::Graph& graph, FormatDialect dialect, bool allow_loss = false) {
  ExportOptions options;
  options.dialect = dialect;
  options.allow_loss = allow_loss;
  return export_model(graph, options);
}

Ops ops_of(const Model& model) {
  Ops ops;
  for (const Node& node : model.graph.nodes) ops.push_back(node.op);
  return ops;
}

Ops qdq_ops(const std::string& formats) {
  return ops_of(exported(relu_in(formats), FormatDialect::qdq));
}

TEST_CASE("QDQ has the types of ONNX, and a clip where a format has fewer bits") {
  const Ops pair{"QuantizeLinear", "DequantizeLinear"};
  CHECK(qdq_ops("data_in=integer(8, 4)") == Ops{pair[0], pair[1], "Relu"});
  CHECK(qdq_ops("data_out=integer(16, 4)") == Ops{"Relu", pair[0], pair[1]});
  CHECK(qdq_ops("data_in=integer(6, 4)") == Ops{"Clip", pair[0], pair[1], "Relu"});
  CHECK(qdq_ops("data_in=fp8_e4m3()") == Ops{pair[0], pair[1], "Relu"});
  CHECK(qdq_ops("data_in=integer(20, 4)") == Ops{"Mul", "Round", "Clip", "Mul", "Relu"});
  CHECK(qdq_ops("data_in=integer_floor(8, 0)") == Ops{"Floor", "Clip", "Relu"});
}

TEST_CASE("A file of floats has no formats, neither in its nodes nor in its stored text") {
  const Model model = exported(relu_in("data_in=integer(8, 4)"), FormatDialect::none);
  CHECK(ops_of(model) == Ops{"Relu"});
  const ir::Graph again = import_model(model, {.path = "m.onnx"}).graph;
  CHECK(again.find_node("y")->formats.empty());
}

TEST_CASE("Quantizers of QONNX are imported as the formats that they were") {
  for (const std::string format :
       {"integer(8, 4)", "integer(5, -2)", "integer(8, 4, is_signed=false)",
        "integer(12, 3, rounding=floor)", "integer(4, 1, rounding=nearest_away)"}) {
    INFO(format);
    const Model model = exported(relu_in("data_in=" + format), FormatDialect::qonnx);
    CHECK(ops_of(model) == Ops{"Quant", "Relu"});
    const ir::Graph again = import_model(model, {.path = "m.onnx"}).graph;
    CHECK(ir::print(again, {.metadata = false}).find("{data_in=" + format + "}") !=
          std::string::npos);
  }
}

TEST_CASE("Masks are not rounded") {
  const ir::Graph graph = ir::parse(
      "graph \"g\" {\n"
      "  %x : float32[4, 6] = placeholder x\n"
      "  %mask : float32[4, 6] = placeholder mask\n"
      "  %s : float32[4, 6] = call_function _operator.add aten::add.Tensor(self=%x, other=%mask)\n"
      "  %p : float32[4, 6] = call_function torch.softmax aten::softmax.int(self=%s, dim=-1) "
      "{data_in=integer(8, 4)}\n"
      "  %output : float32[4, 6] = output output(value=%p)\n"
      "}\n",
      "test");
  CHECK(ops_of(exported(graph, FormatDialect::qonnx)) ==
        Ops{"Add", "Quant", "LessOrEqual", "Where", "Softmax"});
}

TEST_CASE("Formats that a dialect cannot say are named with their ports, or left out") {
  const ir::Graph graph = relu_in("data_in=mxint8(), data_out=log(8)");
  for (const FormatDialect dialect : {FormatDialect::qdq, FormatDialect::qonnx}) {
    const std::string message =
        test::message_of(Fault::unsupported, [&] { exported(graph, dialect); });
    CHECK(message.find("y.data_in (mxint8())") != std::string::npos);
    CHECK(message.find("y.data_out (log(8") != std::string::npos);
    CHECK(ops_of(exported(graph, dialect, true)) == Ops{"Relu"});
  }
  CHECK(ops_of(exported(graph, FormatDialect::none)) == Ops{"Relu"});
}

}  // namespace
}  // namespace mase::onnx
