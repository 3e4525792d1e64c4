// SPDX-License-Identifier: Apache-2.0
// Metadata in the schema of the reference system: its example, formats, configuration, JSON.
#include "ir/metadata.hpp"

#include <catch2/catch.hpp>

#include "ir/text.hpp"

namespace mase::ir {
namespace {

Graph example(const std::string& lines) {
  return parse(R"(graph "g" {
    module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight, bias=@fc.bias]
    module bn : torch.nn.modules.batchnorm.BatchNorm1d = aten::batch_norm(training=$training, eps=1e-05) [weight=@fc.bias, bias=@fc.bias, running_mean=@fc.bias, running_var=@fc.bias]
    tensor fc.weight : float32[784, 784] parameter
    tensor fc.bias : float32[784] parameter
    %x : float32[1, 784] = placeholder x
    %i : int64[1, 3] = placeholder i
    %n : int = placeholder n
    )" + lines + "\n}",
               "example");
}

Tree common(const std::string& line) {
  const Graph graph = example(line);
  return common_metadata(graph, graph.node(graph.order().back()));
}

Tree software(const std::string& line) {
  const Graph graph = example(line);
  return software_metadata(graph, graph.node(graph.order().back()));
}

std::string compact(const Tree& tree) { return to_json(tree, -1); }
bool same(const Tree& tree, const std::string& json) {
  return tree == parse_json(json, "expected");
}

std::vector<std::string> keys(const Tree& tree) {
  std::vector<std::string> found;
  for (const auto& [key, value] : tree.as_dict()) found.push_back(key);
  return found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a linear layer has the records of the reference system, with the bias's true shape") {
  const Tree tree = common("%fc : float32[1, 784] = call_module fc aten::linear(input=%x)");
  INFO(compact(tree));
  CHECK(same(tree, R"({"mase_type": "module_related_func", "mase_op": "linear", "args": {
    "data_in_0": {"shape": [1, 784], "torch_dtype": "torch.float32", "type": "float", "precision": [32]},
    "weight": {"shape": [784, 784], "torch_dtype": "torch.float32", "type": "float", "precision": [32], "from": null},
    "bias": {"shape": [784], "torch_dtype": "torch.float32", "type": "float", "precision": [32], "from": null}},
    "results": {"data_out_0": {"shape": [1, 784], "torch_dtype": "torch.float32", "type": "float", "precision": [32]}}})"));
}

TEST_CASE("formats give type and precision, each port its own") {
  const Tree tree = common(
      "%fc : float32[1, 784] = call_module fc aten::linear(input=%x) "
      "{data_in=integer(8, 4), weight=integer(6, 3), data_out=integer(16, 5)}");
  CHECK(tree.at("args").at("data_in_0").at("type").as_string() == "integer");
  CHECK(same(tree.at("args").at("data_in_0").at("precision"), "[8, 4]"));
  CHECK(same(tree.at("args").at("weight").at("precision"), "[6, 3]"));
  CHECK(tree.at("args").at("bias").at("type").as_string() == "float");
  CHECK(same(tree.at("results").at("data_out_0").at("precision"), "[16, 5]"));
}

TEST_CASE("a function's flags and options are recorded") {
  const Tree relu =
      common("%a : float32[1, 784] = call_function torch.nn.functional.relu aten::relu(self=%x)");
  CHECK(keys(relu.at("args")) == Names{"data_in_0", "inplace"});
  CHECK(same(relu.at("args").at("inplace"), "false"));
  const Tree flatten = common(
      "%a : float32[784] = call_function torch.flatten aten::flatten.using_ints(self=%x, "
      "start_dim=0, end_dim=-1)");
  CHECK(flatten.at("mase_type").as_string() == "implicit_func");
  CHECK(keys(flatten.at("args")) == Names{"data_in_0", "start_dim", "end_dim"});
  CHECK(same(flatten.at("args").at("end_dim"), R"({"shape": [1], "torch_dtype": null,
    "type": "int", "precision": [64], "value": -1})"));
}

TEST_CASE("data is numbered, parameters keep their names") {
  const std::string f = "%a : float32[1, 784] = call_function f ";
  CHECK(keys(common(f + "aten::cat(tensors=[%x, %x], dim=1)").at("args")) ==
        Names{"data_in_0", "data_in_1", "dim"});
  const Tree matmul = common(f + "aten::matmul(self=%x, other=%x) {weight=integer(4, 2)}");
  CHECK(keys(matmul.at("args")) == Names{"data_in_0", "data_in_1"});
  CHECK(same(matmul.at("args").at("data_in_1").at("precision"), "[4, 2]"));
  CHECK(keys(common(f + "aten::linear(input=%x, weight=%x, bias=%x)").at("args")) ==
        Names{"data_in_0", "weight", "bias"});
  CHECK(keys(common(f + "my::thing(left=%x, right=%x, size=3)").at("args")) ==
        Names{"data_in_0", "data_in_1", "size"});
}

TEST_CASE("scalars, other dtypes and host results have their own types") {
  const Tree mul = common(
      "%a : float32[1, 784] = call_function f aten::mul.Tensor(self=%x, "
      "other=0.5)");
  CHECK(same(mul.at("args").at("data_in_1"), R"({"shape": [1], "torch_dtype": null,
    "type": "float", "precision": [64], "value": 0.5})"));
  const Tree size = common("%a : int = call_method size aten::size.int(self=%i, dim=0)");
  CHECK(same(size.at("args").at("data_in_0"), R"({"shape": [1, 3],
    "torch_dtype": "torch.int64", "type": "int64", "precision": [64]})"));
  CHECK(same(size.at("results").at("data_out_0"),
             R"({"shape": [1], "torch_dtype": null, "type": "int"})"));
}

TEST_CASE("inputs, attributes and outputs have records too") {
  const Tree input = common("%y : float32[2] = placeholder y");
  CHECK(same(input.at("args"), "{}"));
  CHECK(same(input.at("results").at("data_out_0").at("shape"), "[2]"));
  const Tree constant = common("%w = get_attr fc.weight");
  CHECK(constant.at("mase_op").as_string() == "constant");
  CHECK(same(constant.at("results").at("data_out_0").at("shape"), "[784, 784]"));
  const Tree output = common("%output = output output(value=(%x, {\"ids\": %i}))");
  CHECK(keys(output.at("args")) == Names{"data_in_0", "data_in_1"});
  CHECK(output.at("args").at("data_in_1").at("type").as_string() == "int64");
  const Tree chunk = common(
      "%a : list(float32[1, 4], float32[1, 4]) = call_function torch.chunk "
      "aten::chunk(self=%x, chunks=2)");
  CHECK(keys(chunk.at("results")) == Names{"data_out_0", "data_out_1"});
}

TEST_CASE("software metadata has a place for statistics at every tensor") {
  CHECK(same(software("%bn : float32[1, 784] = call_module bn aten::batch_norm(input=%x)"),
             R"({"args": {"data_in_0": {"stat": {}}, "weight": {"stat": {}}, "bias": {"stat": {}},
    "running_mean": {"stat": {}}, "running_var": {"stat": {}}},
    "results": {"data_out_0": {"stat": {}}}})"));
  CHECK(same(software("%s : int = call_method size aten::size.int(self=%x, dim=0)"),
             R"({"args": {"data_in_0": {"stat": {}}}, "results": {}})"));
  CHECK(same(software("%output = output output(value=%x)"),
             R"({"args": {"data_in_0": {"stat": {}}}, "results": {}})"));
  CHECK(same(software("%c : float32[2] = get_attr fc.bias"),
             R"({"args": {}, "results": {"data_out_0": {"stat": {}}}})"));
}

TEST_CASE("the JSON of a graph lists nodes as torch.fx shows them") {
  const Graph graph = example(
      "%v : float32[1, 2, 392] = call_method view aten::view(self=%x, size=[%n, -1]) "
      "{data_out=integer(8, 4)}\n"
      "%g = call_function _operator.getitem mase::getitem(value=%v, index=(slice(none, 2, none), "
      "0))\n"
      "%d = call_function torch.nn.functional.dropout aten::dropout(input=%g, p=0.5, "
      "train=$training)\n%output = output output(value={\"k\": %d})\n");
  const Tree json = graph_json(graph);
  CHECK(keys(json) == Names{"nodes"});
  const Tree::List& nodes = json.at("nodes").as_list();
  REQUIRE(nodes.size() == 7);
  CHECK(same(nodes[0], R"({"name": "x", "op": "placeholder", "target": "x", "args": [],
    "kwargs": {}, "metadata": {"common": null, "software": null, "hardware": null},
    "info": {"dtype": "float32", "shape": [1, 784]}, "formats": {}})"));
  CHECK(same(nodes[3].at("args"), R"([{"node": "x"}, {"node": "n"}, -1])"));
  CHECK(same(nodes[3].at("formats"), "{\"data_out\": \"integer(8, 4)\"}"));
  CHECK(same(nodes[4].at("args"), R"([{"node": "v"}, [{"slice": [null, 2, null]}, 0]])"));
  CHECK(same(nodes[4].at("info"), R"({"type": "unknown"})"));
  CHECK(same(nodes[5].at("kwargs"), R"({"p": 0.5, "training": false, "inplace": false})"));
  CHECK(same(nodes[6].at("args"), R"([{"k": {"node": "d"}}])"));
}

TEST_CASE("the metadata tree has one table per node") {
  Graph graph = example("");
  graph.node(graph.order()[0]).meta.common = parse_json(R"({"a": 1})", "common");
  const Tree tree = metadata_tree(graph);
  CHECK(keys(tree) == Names{"x", "i", "n"});
  CHECK(same(tree.at("x"), R"({"common": {"a": 1}, "software": {}, "hardware": {}})"));
}

}  // namespace mase::ir
