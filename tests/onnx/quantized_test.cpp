// SPDX-License-Identifier: Apache-2.0
// Quantized models as graphs: which formats their ports get, and what stays operators.
#include <catch2/catch.hpp>

#include "onnx/models.hpp"
#include "support/message_of.hpp"

namespace mase::onnx {
namespace {

constexpr auto dialect = "qonnx.custom_op.general";

Tensor floats(const std::string& name, const std::vector<float>& values, Shape shape) {
  return {name, ElementType::float32, Array::from(values, std::move(shape)), "", {}};
}

Tensor number(const std::string& name, float value) { return floats(name, {value}, {}); }

Node quant(const std::string& x, const std::string& y, const std::string& scale,
           const std::string& bits, std::vector<Attribute> attributes = {}) {
  Node node = node_of("Quant", {x, scale, "zero", bits}, {y}, std::move(attributes));
  node.domain = dialect;
  return node;
}

Attribute flag(const std::string& name, std::int64_t value) { return {name, value, ""}; }

/// The numbers that Quant nodes read.
std::vector<Tensor> with_numbers(std::vector<Tensor> tensors) {
  for (Tensor& one :
       std::vector<Tensor>{number("zero", 0), number("odd", 3), number("sixteenth", 0.0625F),
                           number("tenth", 0.1F), number("four", 4), number("eight", 8)})
    tensors.push_back(std::move(one));
  return tensors;
}

/// The text of a graph of one node between x and y.
std::string text_of_node(const Node& node, std::vector<Tensor> tensors = {}) {
  return text_of(model_of({0, 4}, {node}, with_numbers(std::move(tensors))));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("quantized tensors become formats of the ports that read them") {
  const Tensor weight = floats("w", {0.1F, -0.6F, 0.26F, 3, 0, 0, 0, 0}, {2, 4});
  const Model model = model_of(
      {0, 4},
      {quant("x", "xq", "sixteenth", "eight"), quant("w", "wq", "quarter", "four"),
       node_of("Gemm", {"xq", "wq"}, {"m"}, {flag("transB", 1)}), node_of("Relu", {"m"}, {"r"}),
       quant("r", "y", "sixteenth", "four", {flag("signed", 0)})},
      with_numbers({weight, number("quarter", 0.25F)}));
  const std::string text = text_of(model);
  CHECK(has(text, "{data_in=integer(8, 4), weight=integer(4, 2)}"));
  CHECK(has(text, "{data_out=integer(4, 4, is_signed=false)}"));
  CHECK_FALSE(has(text, "mase::identity"));
  // Halves are rounded to even, and 3 is beyond 7 quarters.
  const ir::Graph graph = import_model(model, {.path = "model.onnx"}).graph;
  const auto values = graph.tensors.at("w").value.span<float>();
  CHECK(std::vector<float>(values.begin(), values.begin() + 4) ==
        std::vector<float>{0, -0.5F, 0.25F, 1.75F});
}

TEST_CASE("a tensor with readers of several formats is rounded for each") {
  const std::string text =
      text_of(model_of({0, 4},
                       {quant("x", "a", "sixteenth", "eight"), quant("x", "b", "sixteenth", "four"),
                        node_of("Mul", {"a", "b"}, {"y"})},
                       with_numbers({})));
  CHECK(has(text, "data_in=integer(8, 4), data_in_1=integer(4, 4)"));
}

TEST_CASE("ranges that are not those of a format are clamped") {
  const std::string narrow =
      text_of_node(quant("x", "y", "sixteenth", "four", {flag("narrow", 1)}));
  CHECK(has(narrow, "aten::clamp(self=%x, min=-0.4375, max=0.4375) {data_out=integer(4, 4)}"));
  const std::string natural =
      text_of_node(quant("x", "y", "sixteenth", "four", {flag("signed", 0), flag("narrow", 1)}));
  CHECK(has(natural, "min=0.0, max=0.875) {data_out=integer(4, 4, is_signed=false)}"));
}

TEST_CASE("other steps divide and multiply around a format with steps of 1") {
  const std::string text = text_of_node(quant("x", "y", "tenth", "eight"));
  CHECK(has(text, "aten::div.Scalar(self=%x, other=0.1"));
  CHECK(has(text, "{data_in=integer(8, 0)}"));
  CHECK(has(text, "aten::mul.Scalar"));
}

TEST_CASE("what no format says becomes operators") {
  const auto with_mode = [](const char* mode) {
    return text_of_node(
        quant("x", "y", "sixteenth", "eight", {{"rounding_mode", std::string(mode), ""}}));
  };
  CHECK(has(with_mode("FLOOR"), "{data_out=integer(8, 4, rounding=floor)}"));
  CHECK(has(with_mode("half_up"), "{data_out=integer(8, 4, rounding=nearest_away)}"));
  CHECK(has(with_mode("CEIL"), "aten::ceil"));
  CHECK(has(with_mode("DOWN"), "aten::floor"));
  // QONNX adds the zero point before it rounds halves to even.
  Node shifted = quant("x", "y", "sixteenth", "eight");
  shifted.inputs[2] = "odd";
  CHECK(has(text_of_node(shifted), "aten::round"));
}

TEST_CASE("weights may have a step for each channel") {
  const auto model = [](const std::vector<float>& steps, const std::vector<float>& weight) {
    return model_of({0, 2},
                    {quant("w", "wq", "steps", "four"),
                     node_of("Gemm", {"x", "wq"}, {"y"}, {flag("transB", 1)})},
                    with_numbers({floats("steps", steps, {2, 1}), floats("w", weight, {2, 2})}));
  };
  CHECK(has(text_of(model({0.5F, 0.125F}, {3.5F, -1, 0.875F, 0.25F})),
            "weight=integer(4, 1, granularity=channel, channel_frac_width=[1, 3])"));
  CHECK(has(text_of(model({0.3F, 0.7F}, {9, 1, 9, 1})),
            "weight=scale_integer(4, channel_step=[0.30000001192092896, 0.699999988079071])"));
  CHECK(has(text_of(model({0.3F, 0.3F}, {9, 1, 9, 1})),
            "weight=scale_integer(4, channel_step=[0.30000001192092896])"));
}

TEST_CASE("a scale for every input of a layer is no format, which a note says") {
  const Model model = model_of(
      {0, 2},
      {quant("w", "wq", "steps", "four"), node_of("Gemm", {"x", "wq"}, {"y"}, {flag("transB", 1)})},
      with_numbers(
          {floats("steps", {0.3F, 0.7F}, {1, 2}), floats("w", {1, 0.3F, 1, 0.7F}, {2, 2})}));
  const Imported imported = import_model(model, {.path = "model.onnx"});
  REQUIRE(imported.notes.size() == 1);
  CHECK(has(imported.notes[0], "no format has the steps of their scales: w"));
}

TEST_CASE("signs are a format") {
  Node node = node_of("BipolarQuant", {"x", "scale"}, {"y"});
  node.domain = dialect;
  CHECK(has(text_of_node(node, {number("scale", 1)}), "{data_out=binary(scaled=false)}"));
  CHECK(has(text_of_node(node, {number("scale", 0.5F)}), "aten::mul.Scalar"));
}

TEST_CASE("small floats are a format") {
  Node node = node_of("FloatQuant", {"x", "scale", "four", "three", "seven", "most"}, {"y"});
  node.domain = dialect;
  const std::string text = text_of_node(
      node, {number("scale", 1), number("three", 3), number("seven", 7), number("most", 448)});
  CHECK(has(text, "min=-448.0, max=448.0) {data_out=minifloat_ieee(8, 4, 7)}"));
}

TEST_CASE("counts of thresholds are an op, and its format has their values") {
  const auto text = [](double scale, double bias, const Shape& thresholds) {
    Node node = node_of("MultiThreshold", {"x", "t"}, {"y"},
                        {{"out_scale", scale, ""}, {"out_bias", bias, ""}});
    node.domain = dialect;
    return text_of_node(node, {ones("t", thresholds)});
  };
  CHECK(has(text(0.5, -1, {4, 3}),
            "mase::multi_threshold(self=%x, thresholds=%t, out_scale=0.5, out_bias=-1.0) "
            "{data_out=integer(2, 1)}"));
  CHECK(has(text(1, 0, {1, 15}), "{data_out=integer(4, 0, is_signed=false)}"));
  CHECK(has(text(2, -1, {4, 1}), "{data_out=binary(scaled=false)}"));
  CHECK_FALSE(has(text(1e-20, 1, {4, 3}), "data_out"));
}

TEST_CASE("layers whose channels are last are those of ONNX between transposes") {
  const auto layer = [](const std::string& op, const std::string& domain,
                        std::vector<std::string> inputs, std::vector<Attribute> attributes) {
    Node node = node_of(op, std::move(inputs), {"y"}, std::move(attributes));
    node.domain = domain;
    return node;
  };
  const std::string last = "qonnx.custom_op.channels_last";
  const Attribute kernel{"kernel_shape", Attribute::Ints{2, 2}, ""};
  Node quantizer = quant("w", "wq", "sixteenth", "four");
  const std::string text =
      text_of(model_of({0, 5, 5, 3}, {quantizer, layer("Conv", last, {"x", "wq"}, {kernel})},
                       with_numbers({floats("w", std::vector<float>(48, 0.25F), {4, 2, 2, 3})})));
  CHECK(has(text, "w : float32[4, 3, 2, 2]"));
  CHECK(has(text, "aten::conv2d"));
  CHECK(has(text, "weight=integer(4, 4)"));
  CHECK(has(text, "dims=[0, 2, 3, 1]"));
  for (const auto& [op, domain] : {std::pair{"MaxPool", last}, {"MaxPoolNHWC", dialect}})
    CHECK(has(text_of(model_of({0, 4, 4, 3}, {layer(op, domain, {"x"}, {kernel})}, {})),
              "aten::max_pool2d"));
}

TEST_CASE("windows become rows by the places of their elements") {
  Node node = node_of("Im2Col", {"x"}, {"y"},
                      {{"kernel_size", Attribute::Ints{1, 2}, ""},
                       {"stride", Attribute::Ints{1, 1}, ""},
                       {"pad_amount", Attribute::Ints{0, 1, 0, 0}, ""}});
  node.domain = dialect;
  const ir::Graph graph =
      import_model(model_of({0, 1, 2, 2}, {node}, {}), {.path = "model.onnx"}).graph;
  CHECK(has(ir::print(graph), "pad=[0, 0, 1, 0, 0, 0]"));
  bool found = false;
  for (const auto& [path, tensor] : graph.tensors) {
    if (tensor.value.dtype() != DType::int64) continue;
    const auto places = tensor.value.span<std::int64_t>();
    CHECK(std::vector<std::int64_t>(places.begin(), places.end()) ==
          std::vector<std::int64_t>{0, 1, 2, 3, 2, 3, 4, 5});
    found = true;
  }
  CHECK(found);
  node.attributes[0].value = Attribute::Ints{2, 2};
  CHECK(has(test::message_of(Fault::file,
                             [&] {
                               text_of(model_of({0, 1, 2, 2}, {node}, {}));
                             }),
            "its window does not fit its operand"));
}

TEST_CASE("pools and products of integers are sums") {
  const auto text = [](const std::string& op, std::vector<std::string> inputs,
                       std::vector<Attribute> attributes, const Shape& shape,
                       std::vector<Tensor> tensors) {
    Node node = node_of(op, std::move(inputs), {"y"}, std::move(attributes));
    node.domain = dialect;
    return text_of(model_of(shape, {node}, std::move(tensors)));
  };
  // The sum of 4 numbers up to 15 has 6 bits, of which 4 stay.
  const std::string pool = text(
      "QuantAvgPool2d", {"x"},
      {flag("kernel", 2), flag("stride", 2), flag("ibits", 4), flag("obits", 4), flag("signed", 0)},
      {0, 3, 4, 4}, {});
  CHECK(has(pool, "divisor_override=1"));
  CHECK(has(pool, "other=4.0"));
  CHECK(has(pool, "{data_out=integer(4, 0, is_signed=false)}"));
  const std::string product =
      text("XnorPopcountMatMul", {"x", "w"}, {}, {0, 3}, {floats("w", {0, 1, 1}, {3, 1})});
  CHECK(has(product, "weight=integer(2, 0)"));
  CHECK(has(product, "other=3.0"));
}

TEST_CASE("codes that are limited stay codes") {
  const auto zero = Array::from(std::vector<std::int8_t>{0}, {});
  const auto end = [](const std::string& name, std::int8_t value) {
    return Tensor{
        name, ElementType::int8, Array::from(std::vector<std::int8_t>{value}, {}), "", {}};
  };
  const std::string text =
      text_of(model_of({0, 2},
                       {node_of("QuantizeLinear", {"w", "sixteenth", "z"}, {"c"}),
                        node_of("Clip", {"c", "low", "high"}, {"n"}),
                        node_of("DequantizeLinear", {"n", "sixteenth", "z"}, {"wq"}),
                        node_of("MatMul", {"x", "wq"}, {"y"})},
                       with_numbers({floats("w", {-8, 7, 1, 0}, {2, 2}),
                                     end("low", -7),
                                     end("high", 7),
                                     {"z", ElementType::int8, zero, "", {}}})));
  CHECK(has(text, "weight=integer(8, 4)"));
}

TEST_CASE("codes and values of ONNX are the formats of QONNX") {
  const auto text = [](const std::string& zero_name, const Array& zero, ElementType type) {
    return text_of(model_of({0, 4},
                            {node_of("QuantizeLinear", {"x", "sixteenth", zero_name}, {"q"}),
                             node_of("DequantizeLinear", {"q", "sixteenth", zero_name}, {"y"})},
                            with_numbers({{zero_name, type, zero, "", {}}})));
  };
  const auto byte = [](int value) {
    return Array::from(std::vector<std::uint8_t>{static_cast<std::uint8_t>(value)}, {});
  };
  CHECK(has(text("z", byte(128), ElementType::uint8), "placeholder x {data_out=integer(8, 4)}"));
  CHECK(has(text("z", byte(0), ElementType::uint8), "integer(8, 4, is_signed=false)"));
  CHECK(has(text("z", byte(100), ElementType::uint8),
            "min=-6.25, max=9.6875) {data_out=integer(9, 4)}"));
  CHECK(has(text("z", byte(0), ElementType::int4), "integer(4, 4)"));
  CHECK(has(text("z", byte(0), ElementType::float8e4m3fn), "{data_in=fp8_e4m3()}"));
}

TEST_CASE("stored codes become weights with a format") {
  const auto codes = Array::from(std::vector<std::int8_t>{-128, 127, 3, 4}, {2, 2});
  const std::string text =
      text_of(model_of({0, 2},
                       {node_of("DequantizeLinear", {"w", "sixteenth"}, {"wq"}),
                        node_of("MatMul", {"x", "wq"}, {"y"})},
                       with_numbers({{"w", ElementType::int8, codes, "", {}}})));
  CHECK(has(text, "{weight=integer(8, 4)}"));
}

TEST_CASE("operators on codes become operators on their values") {
  const auto zero = Array::from(std::vector<std::int8_t>{0}, {});
  const auto codes = Array::from(std::vector<std::int8_t>{1, 2, 3, 4}, {2, 2});
  const std::string text = text_of(
      model_of({0, 2},
               {node_of("QuantizeLinear", {"x", "sixteenth", "z"}, {"q"}),
                node_of("QLinearMatMul",
                        {"q", "sixteenth", "z", "w", "sixteenth", "z", "sixteenth", "z"}, {"p"}),
                node_of("DequantizeLinear", {"p", "sixteenth", "z"}, {"y"})},
               with_numbers({{"w", ElementType::int8, codes, "", {}},
                             {"z", ElementType::int8, zero, "", {}}})));
  CHECK(has(text,
            "aten::linear(input=%x, weight=%w) "
            "{data_in=integer(8, 4), data_out=integer(8, 4), weight=integer(8, 4)}"));
}

TEST_CASE("what moves codes moves their values") {
  const auto zero = [](const std::string& name, std::uint8_t value) {
    const Array array = Array::from(std::vector<std::uint8_t>{value}, {});
    return Tensor{name, ElementType::uint8, array, "", {}};
  };
  const auto text = [&](std::vector<Node> moves, const std::string& last,
                        const std::string& second = "z") {
    std::vector<Node> nodes{node_of("QuantizeLinear", {"x", "sixteenth", "z"}, {"q"}),
                            node_of("QuantizeLinear", {"x", "sixteenth", second}, {"p"})};
    nodes.insert(nodes.end(), moves.begin(), moves.end());
    nodes.push_back(node_of("DequantizeLinear", {last, "sixteenth", "z"}, {"y"}));
    return text_of(model_of({0, 1, 4, 4}, nodes, with_numbers({zero("z", 128), zero("other", 7)})));
  };
  const Node pool =
      node_of("MaxPool", {"q"}, {"m"}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}, ""}});
  const std::string moved = text({pool, node_of("Flatten", {"m"}, {"f"})}, "f");
  CHECK(has(moved, "{data_in=integer(8, 4)}"));
  CHECK(has(moved, "aten::max_pool2d(self=%x"));
  CHECK_FALSE(has(moved, "uint8"));
  const Node join = node_of("Concat", {"q", "p"}, {"c"}, {flag("axis", 1)});
  CHECK_FALSE(has(text({join}, "c"), "uint8"));
  CHECK(has(text({join}, "c", "other"), "uint8"));  // codes of different quantizers
}

TEST_CASE("types that a file notes for tensors are formats") {
  const auto noted = [](const std::string& input, const std::string& weight) {
    Model model = model_of({0, 2}, {node_of("MatMul", {"x", "w"}, {"y"})},
                           {floats("w", {-8, 7, 1, 0}, {2, 2})});
    model.graph.annotations = {{"x", {{"finn_datatype", input}}},
                               {"w", {{"other", "INT3"}, {"finn_datatype", weight}}}};
    return text_of(model);
  };
  const std::string text = noted("UINT8", "INT4");
  CHECK(has(text, "placeholder x {data_out=integer(8, 0, is_signed=false)}"));
  CHECK(has(text, "{weight=integer(4, 0)}"));
  CHECK(has(noted("FIXED<8,3>", "INT8"), "placeholder x {data_out=integer(8, 5)}"));
  CHECK(has(noted("BIPOLAR", "INT8"), "placeholder x {data_out=integer(2, 0)}"));
  // Numbers that the noted type does not have, and types that are not integers.
  CHECK_FALSE(has(noted("FLOAT32", "INT3"), "integer"));
  CHECK_FALSE(has(noted("INT99", "SCALEDINT<4>"), "integer"));
}

TEST_CASE("constants of quantizers must fit the tensor") {
  const auto fault = [](const std::vector<Node>& nodes, std::vector<Tensor> tensors) {
    return test::message_of(Fault::file, [&] {
      text_of(model_of({0, 4}, nodes, with_numbers(std::move(tensors))));
    });
  };
  CHECK(has(fault({quant("x", "y", "none", "eight")}, {floats("none", {}, {0})}),
            "model.onnx: node 'y_node' (qonnx.custom_op.general.Quant): its scale is empty"));
  CHECK(has(fault({quant("w", "q", "three", "eight"), node_of("Add", {"x", "q"}, {"y"})},
                  {floats("three", {1, 2, 3}, {3}), ones("w", {4})}),
            "its scale or zero point of shape [3] does not fit the tensor's shape [4]"));
  Node steps =
      node_of("MultiThreshold", {"x", "t"}, {"y"}, {{"data_layout", std::string("NHWC"), ""}});
  steps.domain = dialect;
  CHECK(has(fault({steps}, {ones("t", {4, 3})}),
            "its layout 'NHWC' has more dimensions than its operand"));
}

TEST_CASE("a zero point for each channel of codes is subtracted along them") {
  const auto zero = Array::from(std::vector<std::uint8_t>{1, 2}, {2});
  const auto codes = Array::from(std::vector<std::uint8_t>{5, 6, 7, 8}, {2, 2});
  const Model model =
      model_of({0, 2},
               {node_of("DynamicQuantizeLinear", {"x"}, {"q", "scale", "shift"}),
                node_of("MatMulInteger", {"q", "w", "shift", "z"}, {"p"}),
                node_of("Cast", {"p"}, {"y"}, {flag("to", 1)})},
               {{"w", ElementType::uint8, codes, "", {}}, {"z", ElementType::uint8, zero, "", {}}});
  const ir::Graph graph = import_model(model, {.path = "model.onnx"}).graph;
  const auto values = graph.tensors.at("w").value.span<double>();
  // A linear layer has the transpose.
  CHECK(std::vector<double>(values.begin(), values.end()) == std::vector<double>{4, 6, 4, 6});
}

TEST_CASE("codes of 16 bits without a sign are numbers of int32") {
  const auto zero = Array::from(std::vector<std::uint16_t>{0}, {});
  const std::string text =
      text_of(model_of({0, 4},
                       {node_of("QuantizeLinear", {"x", "sixteenth", "z"}, {"q"}),
                        node_of("DequantizeLinear", {"q", "sixteenth", "z"}, {"y"})},
                       with_numbers({{"z", ElementType::uint16, zero, "", {}}})));
  CHECK(has(text, "placeholder x {data_out=integer(16, 4, is_signed=false)}"));
}

TEST_CASE("what a quantizer cannot mean is refused") {
  const auto refusal = [](const Node& node, std::vector<Tensor> tensors = {}) {
    return test::message_of(Fault::unsupported, [&] { text_of_node(node, std::move(tensors)); });
  };
  CHECK(has(refusal(quant("x", "y", "x", "eight")),
            "model.onnx: node 'y_node' (qonnx.custom_op.general.Quant): its scale is computed by "
            "the model"));
  CHECK(has(refusal(quant("x", "y", "tenth", "wide"), {number("wide", 33)}),
            "its bit width is 33.0; it must be an integer from 1 to 32"));
  CHECK(has(refusal(quant("x", "y", "tenth", "eight", {{"rounding_mode", std::string("ODD"), ""}})),
            "the rounding mode 'ODD' is not known"));
}

}  // namespace mase::onnx
