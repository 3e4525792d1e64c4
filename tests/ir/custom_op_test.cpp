// SPDX-License-Identifier: Apache-2.0
// Ops of the user's own: their tables, their text form, and what the op table says of their nodes.
#include "ir/custom_op.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "ir/leaf_bodies.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"

namespace mase::ir {
namespace {

/// A layer with a weight and a bias, on two inputs, one of which has no port.
const std::string gate_text = R"(graph "g" {
  custom_op gate {"class":"nets.Gate","inputs":["data_in","NA"],"macs":"outputs * 2 + w","tensors":{"b":"bias","w":"weight"}}
  module gate : nets.Gate = mase::leaf.gate() [w=@gate.w, b=@gate.b]
  tensor gate.w : float32[4] parameter
  tensor gate.b : float32[4] parameter
  %x : float32[2, 4] = placeholder x
  %y : float32[2, 4] = placeholder y
  %gate : float32[2, 4] = call_module gate mase::leaf.gate(x=%x, y=%y) {bias=integer(8, 6), data_in=integer(8, 4), data_out=integer(6, 2), weight=integer(4, 3)} body {
    %a : float32[2, 4] = placeholder a
    %b_1 : float32[2, 4] = placeholder b
    %gate_w : float32[4] = get_attr gate.w
    %mul : float32[2, 4] = call_function _operator.mul aten::mul.Tensor(self=%a, other=%gate_w)
    %gate_b : float32[4] = get_attr gate.b
    %add : float32[2, 4] = call_function _operator.add aten::add.Tensor(self=%mul, other=%gate_b)
    %add_1 : float32[2, 4] = call_function _operator.add aten::add.Tensor(self=%add, other=%b_1)
    %output : float32[2, 4] = output output(value=%add_1)
  }
  %output : float32[2, 4] = output output(value=%gate)
}
)";

std::string gate_with(const std::string& old, const std::string& text) {
  std::string changed = gate_text;
  changed.replace(changed.find(old), old.size(), text);
  return changed;
}

/// The first problem of a table.
std::string table_problem(const std::string& json, const std::string& name = "gate") {
  Diagnostics diagnostics;
  const auto op = read_custom_op(name, parse_json(json, "t"), diagnostics);
  CHECK((op == nullptr) == diagnostics.has_errors());
  return diagnostics.has_errors() ? diagnostics.all().front().message : "";
}

std::string hardware_problem(const std::string& changed) {
  Tree table = parse_json(R"({"class":"n.G","inputs":["data_in"],"hardware":{"module":"core",
      "files":{"core.sv":"module core; endmodule"},"table":[0,1,-2,-1],"parameters":{"L":"lanes","K":3}}})",
                          "t");
  const Tree given = parse_json(changed, "t");
  for (const auto& [key, value] : given.as_dict()) table["hardware"][key] = value;
  return table_problem(to_json(table));
}

}  // namespace

TEST_CASE("a node of a custom op has the ports that its table says") {
  const Graph graph = parse(gate_text, "t");
  CHECK(verify(graph).empty());
  CHECK(print(graph) == gate_text);
  const Node& gate = *graph.find_node("gate");
  const Classified what = classify(graph, gate);
  CHECK(what.op == "gate");
  CHECK(what.family() == OpFamily::custom);
  CHECK(port_names(*what.row) == std::vector<std::string>{"data_in", "bias", "weight", "data_out"});
  std::vector<std::string> found;
  for (const Port& port : ports(graph, gate))
    found.push_back(port.name + ":" + port.argument + ":" + port.tensor);
  CHECK(found == std::vector<std::string>{"data_in:x:", "weight:w:gate.w", "bias:b:gate.b"});
}

TEST_CASE("formats of a leaf's ports are placed before the nodes of its body that read them") {
  const Graph graph = parse(gate_text, "t");
  LeafPorts rounding;
  const Graph flat = without_leaf_bodies(graph, &rounding);
  CHECK(verify(flat).empty());
  std::map<std::string, std::string> formats;  // of what is rounded
  for (const auto& [id, port] : rounding) {
    CHECK(port.leaf == graph.find_node("gate")->id);
    const Node& node = flat.node(id);
    formats[flat.node(node.args[0].value.node()).name] = node.formats.at("data_in").text();
    CHECK(node.formats.at("data_in") == graph.find_node("gate")->formats.at(port.port));
  }
  CHECK(formats.size() == 3);
  CHECK(formats.contains("x"));
  CHECK(formats.contains("gate_gate_w"));
  CHECK(flat.find_node("gate")->formats.size() == 1);
  const Node& sum = *flat.find_node("gate_add_1");
  CHECK(sum.args[1].value.node() == flat.find_node("y")->id);  // no port: as it is
}

TEST_CASE("a graph whose custom op does not fit is refused") {
  using Found = std::vector<std::string>;
  CHECK(verify(parse(gate_with("[\"data_in\",\"NA\"]", "[\"data_in\"]"), "t")) ==
        Found{"custom_ops.gate gives ports to 1 inputs, but 'gate' has 2 tensors"});
  CHECK(verify(parse(gate_with("{\"b\":", "{\"v\":\"weight\",\"b\":"), "t")) ==
        Found{"custom_ops.gate: 'gate' has no tensor 'v'; it has w, b"});
  CHECK_THROWS_WITH(parse(gate_with("\"weight\"", "\"wieght\""), "t"),
                    Catch::Contains("t:2:13") &&
                        Catch::Contains("unknown port 'wieght'; did you mean 'weight'?"));
  const std::string second = "  custom_op gate {\"class\":\"n.G\",\"inputs\":[\"data_in\"]}\n";
  CHECK_THROWS_WITH(parse(gate_with("  module gate", second + "  module gate"), "t"),
                    Catch::Contains("custom op 'gate' is declared twice"));
  const std::string missing = gate_with("custom_op gate {", "custom_op gait {");
  CHECK(verify(parse(missing, "t")).front() ==
        "node 'gate' is the custom op 'mase::leaf.gate', which is missing");
}

TEST_CASE("mistakes in a custom op's table are named") {
  CHECK(table_problem(R"({"class":"n.G","inputs":["data_in"],"macs":12})") == "");
  CHECK_THAT(table_problem(R"({"class":"n.G","inputs":["data_in"]})", "linear"),
             Catch::Contains("'linear' is a name of the program"));
  CHECK_THAT(table_problem(R"({"class":"n.G","inputs":["data_in"]})", "a b"),
             Catch::Contains("letters, digits and _"));
  CHECK_THAT(table_problem(R"({"inputs":["data_in"]})"), Catch::Contains("give either class"));
  CHECK_THAT(table_problem(R"({"class":"a.B","function":"a.b","inputs":["data_in"]})"),
             Catch::Contains("give either class"));
  CHECK_THAT(table_problem(R"({"class":"n.G","input":["data_in"]})"),
             Catch::Contains("did you mean 'inputs'?"));
  CHECK_THAT(table_problem(R"({"class":"n.G","inputs":["dat_in"]})"),
             Catch::Contains("did you mean 'data_in'?"));
  CHECK_THAT(table_problem(R"({"class":"n.G","inputs":["weight"]})"),
             Catch::Contains("one of the inputs must be data_in"));
  CHECK_THAT(table_problem(R"({"function":"n.g","inputs":["data_in"],"tensors":{"w":"weight"}})"),
             Catch::Contains("a function has no tensors"));
  CHECK_THAT(table_problem(R"({"class":"n.G","inputs":["data_in"],"macs":"outputs *"})"),
             Catch::Contains("a sum of products"));
  CHECK_THAT(table_problem(R"({"class":"n.G","inputs":["data_in"],"macs":"output"})"),
             Catch::Contains("did you mean 'outputs'?"));
}

TEST_CASE("a class is one op") {
  Diagnostics diagnostics;
  read_custom_ops(parse_json(R"({"a":{"class":"n.G","inputs":["data_in"]},
                                 "b":{"class":"n.G","inputs":["data_in"]}})",
                             "t"),
                  diagnostics);
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].message == "custom_ops.b: another op is 'n.G' already");
}

TEST_CASE("mistakes in a custom op's hardware are named") {
  CHECK(hardware_problem("{}") == "");
  CHECK_THAT(hardware_problem(R"({"toolchain":"HLS"})"), Catch::Contains("EXTERNAL"));
  CHECK_THAT(hardware_problem(R"({"module":"mase_fifo"})"), Catch::Contains("begin with mase_"));
  CHECK_THAT(hardware_problem(R"({"module":"a;b"})"),
             Catch::Contains("a name of a SystemVerilog module"));
  CHECK_THAT(hardware_problem(R"({"input":"in);"})"),
             Catch::Contains("cannot begin the name of a port"));
  CHECK_THAT(hardware_problem(R"({"files":{"../x.sv":""}})"),
             Catch::Contains("not a valid name of a file"));
  CHECK_THAT(hardware_problem(R"({"files":{"mase_rom.sv":""}})"), Catch::Contains("mase_"));
  CHECK_THAT(hardware_problem(R"({"parameters":{"L":"lane"}})"),
             Catch::Contains("did you mean 'lanes'?"));
  CHECK_THAT(hardware_problem(R"({"latency":0})"), Catch::Contains("latency"));
  for (const char* table : {"[0,1,2]", "[]", "3", "[0,1.5]", "[0,99999999999]"})
    CHECK_THAT(hardware_problem("{\"table\":" + std::string(table) + "}"),
               Catch::Contains("table"));
  CHECK_THAT(table_problem(R"({"class":"n.G","inputs":["data_in","data_in"],"hardware":{}})"),
             Catch::Contains("module"));
}

TEST_CASE("the cost of a custom op is a sum of products") {
  using Terms = std::vector<std::vector<std::string>>;
  CHECK(parse_macs("outputs * 16 + fc.weight") == Terms{{"outputs", "16"}, {"fc.weight"}});
  for (const char* text : {"", "*", "a +", "a ** b", "(a)", "a - b"}) CHECK(!parse_macs(text));
}

}  // namespace mase::ir
