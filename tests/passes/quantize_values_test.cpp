// SPDX-License-Identifier: Apache-2.0
// What the values decide: binary points that are not given, biases below the sums that they are
// added to, parameters that no format holds, and ports that a format leaves next to nothing of.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/text.hpp"
#include "ir/text.hpp"
#include "passes/float_runner.hpp"

namespace mase {
namespace {

std::string format_text(const ir::Graph& graph, const std::string& port) {
  return graph.find_node("fc")->formats.at(port).text();
}

passes::PassContext some_rows() {
  return test::context_with_rows(Array::from(std::vector<float>{1, 2, 3, 4}, {1, 4}), 1);
}

}  // namespace

TEST_CASE("a binary point that is not given is the one that the values ask for") {
  // 4 bits hold -8 .. 7 steps: of 2^-7 for 0.05, where half of the width has steps of 2^-2.
  const std::vector<float> weight(8, 0.05f);
  ir::Graph graph = test::two_layers(weight, {0, 0});
  passes::PassContext context = some_rows();
  test::run_pass(
      graph, "quantize",
      "[linear.config]\nname = \"integer\"\nweight_width = 4\ndata_in = \"integer(8)\"\n", context);
  CHECK(format_text(graph, "weight") == "integer(4, 7)");
  CHECK(format_text(graph, "data_in") == "integer(8, 4)");
  for (const std::string fields : {"weight_width = 4\nprofile = \"reference\"\n",
                                   "weight_width = 4\nweight_frac_width = \"NA\"\n"}) {
    ir::Graph halved = test::two_layers(weight, {0, 0});
    test::run_pass(halved, "quantize", "[linear.config]\nname = \"integer\"\n" + fields, context);
    CHECK(halved.find_node("fc")->formats.at("weight").fields().at("frac_width") == Tree(2));
  }
}

TEST_CASE("a rule may name a port that only some nodes of an op have") {
  const std::string layer = "torch.nn.modules.linear.Linear = aten::linear() ";
  const auto notes_of = [&](const std::string& bias_of_a) {
    ir::Graph graph = ir::parse(
        "graph \"two\" {\n"
        "  module a : " +
            layer + "[weight=@a.weight" + bias_of_a +
            "]\n"
            "  module b : " +
            layer +
            "[weight=@b.weight]\n"
            "  tensor a.weight : float32[2, 4] parameter grad\n"
            "  tensor a.bias : float32[2] parameter grad\n"
            "  tensor b.weight : float32[2, 2] parameter grad\n"
            "  %x : float32[3, 4] = placeholder x\n"
            "  %a : float32[3, 2] = call_module a aten::linear(input=%x)\n"
            "  %b : float32[3, 2] = call_module b aten::linear(input=%a)\n"
            "  %output : float32[3, 2] = output output(value=%b)\n"
            "}\n",
        "two");
    passes::PassContext context;
    const passes::Result result = test::run_pass(
        graph, "quantize",
        "[linear.config]\nweight = \"integer(8, 4)\"\nbias = \"integer(8, 4)\"\n", context);
    return join(result.notes, "\n");
  };
  CHECK(notes_of(", bias=@a.bias").find("asks for bias") == std::string::npos);
  CHECK(notes_of("").find("'linear' asks for bias, which linear does not have, at: a, b") !=
        std::string::npos);
}

TEST_CASE("without data it is half of the width for data, and a note says so") {
  ir::Graph graph = test::two_layers(std::vector<float>(8, 0.05f), {0, 0});
  passes::PassContext context;
  const passes::Result result = test::run_pass(
      graph, "quantize",
      "[linear.config]\nname = \"integer\"\nweight_width = 4\ndata_in_width = 8\nbias_width = 8\n",
      context);
  CHECK(format_text(graph, "weight") == "integer(4, 7)");
  CHECK(format_text(graph, "data_in") == "integer(8, 4)");
  REQUIRE(result.notes.size() == 1);
  CHECK(result.notes[0].find("data_in_frac_width") != std::string::npos);
}

TEST_CASE("a bias asks for no bits below the products that it is added to") {
  // Products have 4 + 7 fraction bits; 2^-20 is no half step of their sums, 2^-3 is one of 2^8.
  for (const auto& [bias, expected] :
       {std::pair{0x1p-20f, "integer(8, 11)"}, std::pair{0x1p-3f, "integer(8, 9)"}}) {
    ir::Graph graph = test::two_layers(std::vector<float>(8, 0.5f), {bias, bias});
    passes::PassContext context = some_rows();
    test::run_pass(graph, "quantize",
                   "[linear.config]\nname = \"integer\"\nweight = \"integer(8, 7)\"\n"
                   "data_in = \"integer(8, 4)\"\nbias_width = 8\nbias_frac_width = \"auto\"\n",
                   context);
    CHECK(format_text(graph, "bias") == expected);
  }
}

TEST_CASE("a parameter that is joined to a stream gets the format of its reader, not float32") {
  ir::Graph graph = ir::parse(R"(graph "tokens" {
  tensor cls : float32[1, 1, 2] parameter grad
  %x : float32[3, 4, 2] = placeholder x
  %cls : float32[1, 1, 2] = get_attr cls
  %expand : float32[3, 1, 2] = call_method expand aten::expand(self=%cls, size=[3, 1, 2])
  %cat : float32[3, 5, 2] = call_function torch.cat aten::cat(tensors=[%expand, %x], dim=1)
  %y : float32[3, 5, 2] = call_function torch.tanh aten::tanh(self=%cat)
  %output : float32[3, 5, 2] = output output(value=%y)
}
)",
                              "test");
  passes::PassContext context;
  const passes::Result result =
      test::run_pass(graph, "quantize", "[tanh.config]\ndata_in = \"integer(6, 4)\"\n", context);
  CHECK(result.notes.empty());
  const Tree bits = test::run_pass(graph, "average_bits", "", context).info;
  CHECK(bits.at("average_bitwidth").as_double() == 6);
}

TEST_CASE("parameters with NaN or infinity are refused alike by all formats") {
  for (const float bad : {NAN, INFINITY})
    for (const std::string format : {"mxint8", "nvfp4", "fp8_e4m3", "integer(8, 4)", "binary"}) {
      INFO(format << " " << bad);
      ir::Graph graph = test::two_layers({1, 1, 1, bad, 1, 1, 1, 1}, {0, 0});
      passes::PassContext context;
      CHECK_THROWS_WITH(test::run_pass(graph, "quantize",
                                       "[linear.config]\nweight = \"" + format + "\"\n", context),
                        Catch::Contains("node 'fc', weight (tensor 'fc.weight'): element 3 is "));
    }
}

TEST_CASE("a port of 4 bits or more below 10 dB is a note, but a bias that is lost in the sum") {
  // Steps of 1/4 make 0 of 0.05: all of it is error. Of 2 bits that is no wonder.
  const auto notes = [](const std::string& options, float bias) {
    ir::Graph graph = test::two_layers(std::vector<float>(8, 0.05f), {bias, bias});
    passes::PassContext context = some_rows();
    context.probe = {Array::from(std::vector<float>{1, 2, 3, 4}, {1, 4})};
    context.probe_is_data = true;
    const ir::Graph original = graph;
    test::run_pass(graph, "quantize", "[linear.config]\n" + options, context);
    std::vector<std::string> found;
    for (const std::string& note :
         test::run_pass(graph, "summarize_quantization", "", context).notes)
      if (note.find("SQNR") != std::string::npos) found.push_back(note);
    return found;
  };
  const auto coarse = notes("weight = \"integer(4, 2)\"\n", 0);
  REQUIRE(coarse.size() == 1);
  CHECK(coarse[0].starts_with("below 10 dB SQNR: 'fc' weight (0.00)"));
  CHECK(notes("weight = \"integer(2, 0)\"\n", 0).empty());
  CHECK(notes("weight = \"integer(8, 10)\"\n", 0).empty());
  // The sums are 0.5: an error of 0.001 in a bias is nothing to them, one of 0.1 is.
  CHECK(notes("bias = \"integer(8, 2)\"\n", 0.001f).empty());
  CHECK(notes("bias = \"integer(8, 2)\"\n", 0.1f).size() == 1);
}

TEST_CASE("negative inputs of a ReLU are no noise to a format without a sign") {
  ir::Graph graph = ir::parse(
      "graph \"one\" {\n"
      "  %x : float32[1, 2] = placeholder x\n"
      "  %y : float32[1, 2] = call_function torch.relu aten::relu(self=%x)\n"
      "  %output : float32[1, 2] = output output(value=%y)\n}\n",
      "one");
  passes::PassContext context = some_rows();
  context.probe = {Array::from(std::vector<float>{-3, 1.0625f}, {1, 2})};
  context.probe_is_data = true;
  test::run_pass(graph, "quantize", "[relu.config]\ndata_in = \"integer(8, 2, is_signed=false)\"\n",
                 context);
  const passes::Result result = test::run_pass(graph, "summarize_quantization", "", context);
  CHECK(join(result.notes, "\n").find("SQNR") == std::string::npos);
  // Steps of 1/4: 1.0625 becomes 1, an error of a seventeenth, which is 20 log10(17) dB.
  CHECK(result.info.at("sqnr_db").at("y").at("data_in").as_double() == Approx(24.609).margin(1e-3));
}

TEST_CASE("an operand that its partner's binary point loses is noted, except in a sum") {
  // Steps of 1 for 3 and 90, so 0.02 becomes 0: the product is lost, of the sum a thousandth of
  // one.
  const auto notes = [](const std::string& op) {
    ir::Graph graph = ir::parse(
        "graph \"two\" {\n"
        "  %a : float32[1, 2] = placeholder a\n"
        "  %b : float32[1, 2] = placeholder b\n"
        "  %y : float32[1, 2] = call_function _operator." +
            op + " aten::" + op +
            ".Tensor(self=%a, other=%b)\n"
            "  %output : float32[1, 2] = output output(value=%y)\n}\n",
        "two");
    passes::PassContext context = some_rows();
    context.probe = {Array::from(std::vector<float>{0.02f, -0.02f}, {1, 2}),
                     Array::from(std::vector<float>{3, 90}, {1, 2})};
    context.probe_is_data = true;
    test::run_pass(graph, "quantize", "[" + op + ".config]\ndata_in = \"integer(8, 0)\"\n",
                   context);
    return join(test::run_pass(graph, "summarize_quantization", "", context).notes, "\n");
  };
  CHECK(notes("mul").find("below 10 dB SQNR: 'y' data_in (0.00)") != std::string::npos);
  CHECK(notes("add").find("SQNR:") == std::string::npos);
}

}  // namespace mase
