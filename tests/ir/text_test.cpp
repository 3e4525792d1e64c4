// SPDX-License-Identifier: Apache-2.0
// The text form: exact printed lines, round trips, error places, hostile input.
#include <catch2/catch.hpp>
#include <limits>

#include "base/random.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "random_graph.hpp"

namespace mase::ir {
namespace {

// Written by hand in the canonical form, so it is both the input and the expected print.
const std::string sample = R"(graph "small" {
  container "block 0" : my.Block
  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight, bias=@fc.bias]
  module norm : torch.nn.modules.batchnorm.BatchNorm1d = aten::batch_norm(training=$training, momentum=0.1, eps=1e-05, cudnn_enabled=true)
  tensor fc.weight : float32[16, 4] parameter grad
  tensor fc.bias : float32[16] parameter
  tensor "0.count" : int64[] buffer
  guard "code/m.py:3" "x.size(0) > 1"
  history [{"pass":"quantize","options":{"width":8}}]
  source {"doc":"a small\nmodel"}
  %x : float32[2, 4] = placeholder x
  %fc : float32[2, 16] = call_module fc aten::linear(input=%x) {data_in=integer(8, 4), weight=integer(8, 4)}
    | common = {"mase_op":"linear","args":{}}
    | software = {}
    | source = {"name":"first layer"}
  %size : int = call_method size aten::size.int(self=%fc, dim=0)
  %getitem = call_function _operator.getitem mase::getitem(value=%fc, index=(slice(none, none, 2), -1))
  %output : tuple(float32[2, 16], dict("a b": int)) = output output(value=(%fc, {"a b": %size}))
}
)";

std::string error_of(const std::string& text) {
  try {
    parse(text, "g.txt");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::file);
    return error.what();
  }
  return "";
}

std::string nodes(const std::string& lines) { return "graph \"g\" {\n" + lines + "}\n"; }

}  // namespace

TEST_CASE("a graph in canonical text prints as it was written") {
  CHECK(print(parse(sample, "sample")) == sample);
}

TEST_CASE("parsing builds the nodes, modules and tensors the text names") {
  const Graph graph = parse(sample, "sample");
  CHECK(graph.name == "small");
  CHECK(graph.order().size() == 5);
  CHECK(graph.containers.at("block 0") == "my.Block");
  const Module& norm = graph.modules.at("norm");
  CHECK(norm.short_class() == "BatchNorm1d");
  CHECK(norm.attribute("training")->kind() == Value::Kind::training);
  CHECK(norm.attribute("momentum")->as_double() == 0.1);
  CHECK(*graph.modules.at("fc").tensor("bias") == "fc.bias");
  CHECK(graph.tensors.at("fc.weight").requires_grad);
  CHECK(graph.tensors.at("0.count").value.dtype() == DType::int64);
  CHECK(graph.tensors.at("0.count").value.size() == 1);
  CHECK(graph.tensor_order == std::vector<std::string>{"fc.weight", "fc.bias", "0.count"});
  CHECK(graph.guards.front().condition == "x.size(0) > 1");
  CHECK(graph.history.as_list().front().at("pass").as_string() == "quantize");
  CHECK(graph.source.at("doc").as_string() == "a small\nmodel");
  const Node* fc = graph.find_node("fc");
  REQUIRE(fc);
  CHECK(fc->formats.at("weight").text() == "integer(8, 4)");
  CHECK(fc->meta.common.at("mase_op").as_string() == "linear");
  CHECK(fc->source.at("name").as_string() == "first layer");
  CHECK(fc->find("input")->node() == graph.find_node("x")->id);
  const Value& index = *graph.find_node("getitem")->find("index");
  CHECK(index == Value::tuple({Value::slice(Value(), Value(), 2), -1}));
}

TEST_CASE("metadata can be left out of the print") {
  const std::string text = print(parse(sample, "sample"), {.metadata = false});
  CHECK(text.find("common") == std::string::npos);
  CHECK(text.find("%fc : float32[2, 16]") != std::string::npos);
}

TEST_CASE("random graphs survive print and parse unchanged") {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Graph graph = test::random_graph(seed);
    const std::string text = print(graph);
    const Graph again = parse(text, "random");
    REQUIRE(print(again) == text);
    REQUIRE(again.order().size() == graph.order().size());
    REQUIRE(again.tensor_order == graph.tensor_order);
    REQUIRE(again.guards == graph.guards);
    for (std::size_t i = 0; i < graph.order().size(); ++i) {
      const Node& a = graph.node(graph.order()[i]);
      const Node& b = again.node(again.order()[i]);
      REQUIRE(a.name == b.name);
      REQUIRE(a.target == b.target);
      REQUIRE(a.info == b.info);
      REQUIRE(a.meta == b.meta);
      REQUIRE(a.args.size() == b.args.size());
    }
  }
}

TEST_CASE("numbers keep every bit and their kind") {
  const Graph graph;
  CHECK(print(graph, 0.1) == "0.1");
  CHECK(print(graph, 1.0) == "1.0");
  CHECK(print(graph, 1) == "1");
  CHECK(print(graph, -std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(print(graph, Value::tuple({1})) == "(1,)");
  CHECK(print(graph, Value::tuple({})) == "()");
  const Graph parsed =
      parse(nodes("%output = output output(value=[-inf, inf, nan, -0.0, 1e300, 7])\n"), "n");
  const Value& value = *parsed.node(parsed.output()).find("value");
  CHECK(value.items()[0].as_double() == -std::numeric_limits<double>::infinity());
  CHECK(value.items()[2] == Value(std::numeric_limits<double>::quiet_NaN()));
  CHECK(value.items()[3] == Value(-0.0));
  CHECK_FALSE(value.items()[3] == Value(0.0));
  CHECK(value.items()[5] == Value(7));
}

TEST_CASE("wrong texts are refused with the place and the reason") {
  const auto says = [](const std::string& text, const std::string& expected) {
    INFO(text);
    CHECK_THAT(error_of(text), Catch::Contains(expected));
  };
  says("", "g.txt:1:1: error: expected 'graph'");
  says("graph 3", "g.txt:1:7: error: expected the graph's name");
  says("graph \"g\" {", "expected a node (%name = ...), a declaration or '}'");
  says(nodes("") + "x", "g.txt:3:1: error: text after the end");
  says(nodes("  %a = call_function f aten::relu(self=%b)\n"), "g.txt:2:40: error: no node '%b'");
  says(nodes("%x = placeholder x\n%x = placeholder y\n"), "g.txt:3:1: error: node '%x' is defined");
  says(nodes("%input = placeholder input\n"), "'input_1' would work");
  says(nodes("%x = jump x\n"), "g.txt:2:6: error: expected a node kind");
  says(nodes("tensor w : float32[4] weight\n"), "expected 'parameter' or 'buffer'");
  says(nodes("tensor w : float31[4] buffer\n"), "unknown dtype 'float31'");
  says(nodes("tensor w : float32[-4] buffer\n"), "at least 0");
  says(nodes("tensor w : int buffer\n"), "expected a tensor type");
  says(nodes("tensor w : int64[4] buffer tensor w : int64[4] buffer\n"), "declared twice");
  says(nodes("tensor w : float32[99999999, 99999999, 99999999] buffer\n"), "g.txt:2:12");
  says(nodes("tensor w : float32[9999999999] buffer\n"), "exceed 4 GiB");
  says(nodes("%x = placeholder x {data_out=integer(40, 4)}\n"), "g.txt:2:30");
  says(nodes("%x = placeholder x {data_out=nonsense(8)}\n"), "g.txt:2:30");
  says(nodes("%x = placeholder x {data_out=integer(8, 4}\n"), "missing ')'");
  says(nodes("%x = placeholder x\n  | uncommon = {}\n"), "unknown metadata part 'uncommon'");
  says(nodes("%x = placeholder x\n  | common = {\"a\": \n"), "g.txt:3:14");
  says(nodes("%x = placeholder x(a=slice(1, 2))\n"), "a slice has three values");
  says(nodes("%x = placeholder x(a=1x)\n"), "'1x' is not a number");
  says(nodes("%x = placeholder x(a=word)\n"), "put texts in quotes");
  says(nodes("%x = placeholder \"open\n"), "missing closing quote");
  says(nodes("%x = placeholder x(a=$train)\n"), "expected '$training'");
  says(nodes("history {}\n"), "the history must be a JSON list");
  says(nodes("source []\n"), "the source must be a JSON object");
  says(nodes("modul a : b = c()\n"), "unknown declaration 'modul'");
  says(nodes("~\n"), "unexpected character");
}

TEST_CASE("deeply nested text is refused instead of overflowing the stack") {
  for (const std::string open : {"[", "(", "{\"k\": ", "slice("}) {
    std::string value;
    for (int i = 0; i < 200000; ++i) value += open;
    CHECK_THAT(error_of(nodes("%x = placeholder x(a=" + value + ")\n")),
               Catch::Contains("nested too deeply"));
  }
  std::string type;
  for (int i = 0; i < 200000; ++i) type += "list(";
  CHECK_THAT(error_of(nodes("%x : " + type)), Catch::Contains("nested too deeply"));
}

TEST_CASE("damaged texts either parse or are refused as a file error") {
  Random random(7);
  const std::string junk = "{}()[],:=@|%$\"\\#.019azE-\n \x80";
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = sample;
    for (int edits = 1 + static_cast<int>(random.below(3)); edits > 0; --edits) {
      const std::size_t at = random.below(text.size());
      const std::uint64_t how = random.below(3);
      if (how == 0)
        text[at] = junk[random.below(junk.size())];
      else if (how == 1)
        text.erase(at, 1 + random.below(20));
      else
        text.insert(at, 1, junk[random.below(junk.size())]);
    }
    if (random.below(10) == 0) text.resize(random.below(text.size()));
    try {
      const Graph graph = parse(text, "damaged");
      verify(graph);
      print(graph);
    } catch (const Error& error) {
      REQUIRE(error.fault() == Fault::file);
      ++refused;
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("comments and free spacing are accepted") {
  const Graph graph = parse("graph\"g\"{# a comment\n%x=placeholder x # }\n\t}", "free");
  CHECK(graph.order().size() == 1);
}

}  // namespace mase::ir
