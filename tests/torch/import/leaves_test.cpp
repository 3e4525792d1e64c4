// SPDX-License-Identifier: Apache-2.0
// Opaque leaves: layers and functions of several operators that stay one node with a graph of their
// own.
#include "base/error.hpp"
#include "formats/format.hpp"
#include "ir/custom_op.hpp"
#include "ir/leaf_bodies.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "test_paths.hpp"
#include "torch/catch.hpp"
#include "torch/export/export_support.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/torchscript.hpp"
#include "torch/run/executor.hpp"

using namespace mase;
using namespace mase::test;

namespace {

std::string leaves_file(const std::string& name) {
  return std::string(MASE_TEST_FOLDER) + "/fixtures/programs/" + name + ".pt";
}

std::vector<Array> leaves_example() {
  return {read_npy(std::string(MASE_TEST_FOLDER) + "/fixtures/programs/example.npy")};
}

ir::Graph import_leaves(const std::string& name, std::vector<std::string> modules,
                        std::vector<std::string> functions = {}) {
  backend::ImportOptions options;
  options.inputs = leaves_example();
  options.leaf_modules = std::move(modules);
  options.leaf_functions = std::move(functions);
  return libtorch::import_torchscript(leaves_file(name), options);
}

std::vector<std::string> names_of(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::NodeId id : graph.order()) names.push_back(graph.node(id).name);
  return names;
}

void check_leaves(const ir::Graph& graph, const std::string& file) {
  CHECK(ir::verify(graph).empty());
  CHECK(ir::print(ir::parse(ir::print(graph), "printed")) == ir::print(graph));
  CHECK(same(executed(graph, leaves_example()), called(file, leaves_example())));
  check_three_calls(graph, leaves_example());
}

}  // namespace

TEST_CASE("layers and functions of several operators are one node each", "[leaves]") {
  const ir::Graph graph = import_leaves("Leaves", {"make_programs.Mixed", "make_programs.Parted"},
                                        {"make_programs.smooth"});
  // As torch.fx with these leaves; what only the body reads is no node.
  CHECK(names_of(graph) == std::vector<std::string>{"x", "mixed", "mixed_1", "getitem", "size",
                                                    "parted", "getitem_1", "getitem_2", "smooth",
                                                    "getitem_3", "getitem_4", "output"});
  const ir::Node& leaf = *graph.find_node("mixed_1");
  CHECK(leaf.kind == ir::NodeKind::call_module);
  CHECK(leaf.op == ir::leaf_op);
  CHECK(graph.modules.at("mixed").tensors.size() == 3);
  CHECK(graph.find_node("smooth")->target == "make_programs.smooth");
  check_leaves(graph, leaves_file("Leaves"));
}

TEST_CASE("layers of traces are leaves, too", "[leaves]") {
  const ir::Graph graph = import_leaves("TracedLeaves", {"make_programs.Mixed"});
  CHECK(graph.modules.contains("mixed"));
  CHECK(graph.find_node("mixed_1")->op == ir::leaf_op);
  check_leaves(graph, leaves_file("TracedLeaves"));
}

TEST_CASE("leaves take other batch sizes", "[leaves]") {
  const ir::Graph graph = import_leaves("TracedLeaves", {"make_programs.Mixed"});
  CHECK(executed(graph, {Array(DType::float32, {5, 3, 4})})[1].second.shape() == Shape{5, 3, 4});
}

namespace {

constexpr const char* energy_table =
    R"({"energy": {"class": "make_programs.Energy", "inputs": ["data_in"],
    "tensors": {"weight": "weight"}, "macs": "outputs * 2"}})";

ir::CustomOps custom_ops_of(const std::string& json) {
  Diagnostics diagnostics;
  ir::CustomOps ops = ir::read_custom_ops(parse_json(json, "ops"), diagnostics);
  diagnostics.throw_if_errors();
  return ops;
}

ir::Graph import_custom(const std::string& name, const std::string& json) {
  backend::ImportOptions options;
  options.inputs = leaves_example();
  options.custom_ops = custom_ops_of(json);
  return libtorch::import_torchscript(leaves_file(name), options);
}

Array rounded_to(const std::string& format, const Array& values) {
  Array out(DType::float32, values.shape());
  formats::parse_format(format).quantize(values.span<float>(), out.mutable_span<float>(),
                                         values.shape());
  return out;
}

}  // namespace

TEST_CASE("a custom op is one node of scripts and traces, whose ports round what it reads",
          "[leaves]") {
  for (const std::string name : {"Custom", "TracedCustom"}) {
    INFO(name);
    ir::Graph graph = import_custom(name, energy_table);
    CHECK(names_of(graph) == std::vector<std::string>{"x", "fc", "energy", "head", "output"});
    check_leaves(graph, leaves_file(name));
    ir::Node& node = graph.node(graph.find_node("energy")->id);
    CHECK(node.op == "mase::leaf.energy");
    CHECK(ir::ports(graph, node).size() == 2);
    // A weight of 0.5 becomes 1 in steps of 1.
    for (const auto& [port, format] : {std::pair{"data_in", "integer(5, 2)"},
                                       std::pair{"weight", "integer(4, 0, rounding=nearest_away)"},
                                       std::pair{"data_out", "integer(6, 1)"}})
      node.formats.emplace(port, formats::parse_format(format));
    check_three_calls(graph, leaves_example());
    std::map<std::string, Array> seen;
    libtorch::make_evaluator(graph, ir::Level::quantized)
        ->run(leaves_example(), [&](const ir::Node& of, const std::string& port,
                                    const Array& value) { seen[of.name + "." + port] = value; });
    CHECK(seen.at("energy.data_in.raw").same_bits(seen.at("fc.data_out")));
    const Array in = rounded_to("integer(5, 2)", seen.at("fc.data_out"));
    CHECK(seen.at("energy.data_in").same_bits(in));
    CHECK(seen.at("energy.weight").span<float>()[0] == 1.0F);
    Array out(DType::float32, in.shape());
    for (std::size_t i = 0; i < in.span<float>().size(); ++i) {
      const float x = in.span<float>()[i];
      out.mutable_span<float>()[i] = std::min(x * x, 7.9375F);
    }
    CHECK(seen.at("energy.data_out").same_bits(rounded_to("integer(6, 1)", out)));
  }
}

TEST_CASE("a format that changes while a graph runs reaches the ports of a custom op", "[leaves]") {
  ir::Graph graph = import_custom("Custom", energy_table);
  ir::Node& node = graph.node(graph.find_node("energy")->id);
  for (const char* port : {"data_in", "weight", "data_out"})
    node.formats.emplace(port, formats::parse_format("integer(8, 6)"));
  libtorch::Executor executor(graph, ir::Level::quantized);
  const auto run = [&] {
    return libtorch::results_of(executor.run(libtorch::check_inputs(graph, leaves_example())));
  };
  CHECK(same(run(), executed(graph, leaves_example())));
  for (const auto& [port, text] : {std::pair{"data_out", "integer(6, 4)"},
                                   std::pair{"weight", "integer(4, 0, rounding=nearest_away)"},
                                   std::pair{"data_in", "integer(4, 2)"}}) {
    INFO(port);
    const ir::Results before = run();
    const formats::Format format = formats::parse_format(text);
    node.formats.at(port) = format;
    executor.set_format(node.id, port, format);
    CHECK(!same(run(), before));
    CHECK(same(run(), executed(graph, leaves_example())));
  }
}

TEST_CASE("a custom op of several inputs and nested tensors, and one of a function", "[leaves]") {
  ir::Graph graph = import_custom("Leaves", R"({
      "mixed": {"class": "make_programs.Mixed", "inputs": ["data_in"],
                "tensors": {"fc.weight": "weight", "fc.bias": "bias"}},
      "smooth": {"function": "make_programs.smooth", "inputs": ["data_in"]}})");
  const ir::Node& mixed = *graph.find_node("mixed_1");
  CHECK(mixed.op == "mase::leaf.mixed");
  std::vector<std::string> tensors;
  for (const ir::Port& port : ir::ports(graph, mixed)) tensors.push_back(port.tensor);
  CHECK(tensors == std::vector<std::string>{"", "mixed.fc.bias", "mixed.fc.weight"});
  CHECK(graph.find_node("smooth")->op == "mase::leaf.smooth");
  check_leaves(graph, leaves_file("Leaves"));
  for (const char* name : {"mixed", "mixed_1", "smooth"})
    for (const ir::Port& port : ir::ports(graph, *graph.find_node(name)))
      graph.node(graph.find_node(name)->id)
          .formats.insert_or_assign(port.name, formats::parse_format("integer(6, 3)"));
  CHECK(ir::verify(graph).empty());
  check_three_calls(graph, leaves_example());
}

TEST_CASE("custom ops that do not fit the model are refused", "[leaves]") {
  CHECK_THROWS_WITH(
      import_custom("Custom", R"({"e": {"class": "make_programs.Enregy", "inputs": ["data_in"]}})"),
      Catch::Contains("custom_ops.e: the model calls nothing named 'make_programs.Enregy'; "
                      "did you mean 'make_programs.Energy'?"));
  CHECK_THROWS_WITH(import_custom("TracedLeaves", R"({"s": {"function": "make_programs.smooth",
                                                           "inputs": ["data_in"]}})"),
                    Catch::Contains("custom_ops.s: a traced model keeps layers, but no functions"));
  CHECK_THROWS_WITH(import_custom("Custom", R"({"e": {"class": "make_programs.Energy",
                                                     "inputs": ["data_in", "data_in"]}})"),
                    Catch::Contains("gives ports to 2 inputs, but 'energy' has 1 tensors"));
  CHECK_THROWS_WITH(import_custom("Custom", R"({"e": {"class": "make_programs.Energy",
                                       "inputs": ["data_in"], "tensors": {"wieght": "weight"}}})"),
                    Catch::Contains("has no tensor 'wieght'; did you mean 'weight'?"));
}

TEST_CASE("a leaf that changes its input is refused", "[leaves]") {
  CHECK_NOTHROW(import_leaves("ChangedInput", {}));
  CHECK_THROWS_WITH(import_leaves("ChangedInput", {"make_programs.Changing"}),
                    Catch::Contains("'changing' changes its input 'mul' in place"));
}

TEST_CASE("a body that does not fit its leaf is refused", "[leaves]") {
  const std::string head = "graph \"g\" {\n  %x : float32[2] = placeholder x\n";
  const std::string tail = "  %output = output output(value=%f)\n}\n";
  const auto text = [&](const std::string& given, const std::string& body) {
    return head + "  %f = call_function f mase::leaf(" + given + ")" + body + tail;
  };
  const std::string body =
      " body {\n  %a = placeholder a\n  %r = call_function torch.relu aten::relu(self=%a)\n"
      "  %output = output output(value=%r)\n  }\n";
  CHECK(ir::verify(ir::parse(text("x=%x", body), "t")).empty());
  CHECK(ir::verify(ir::parse(text("x=%x, y=%x", body), "t")) ==
        std::vector<std::string>{"leaf 'f': the body takes 1 inputs, but the leaf has 2"});
  CHECK(ir::verify(ir::parse(text("x=%x", " body {\n  %a = placeholder a\n  }\n"), "t")) ==
        std::vector<std::string>{"leaf 'f': the body has no output"});
  CHECK(ir::verify(ir::parse(text("x=%x", "\n"), "t")) ==
        std::vector<std::string>{"node 'f' is a leaf without a body"});
  CHECK_THROWS_WITH(
      ir::parse(text("x=%x", " body {\n  %a = call_function f mase::leaf() body {\n  }\n  }\n"),
                "t"),
      Catch::Contains("a leaf is inside another leaf"));
}
