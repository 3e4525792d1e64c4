// SPDX-License-Identifier: Apache-2.0
// Tests of what a checkpoint stores beside the module: graph, metadata, integer codes, hashes.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "ir/text.hpp"
#include "support/make_zip.hpp"

using namespace mase;

namespace {

/// x → linear layer "a.b-c" (2 inputs, 3 outputs) → output, weights quantized to 4 bits.
ir::Graph linear_graph() {
  ir::Graph graph;
  const std::vector<float> weight{0.5F, -0.25F, 1.75F, -2.0F, 100.0F, 0.0F};
  graph.set_tensor("a.b-c.weight", {Array::from(weight, {3, 2}), true, true});
  ir::Module module{"a.b-c", "torch.nn.modules.linear.Linear", "aten::linear", {}, {}};
  module.tensors = {{"weight", "a.b-c.weight"}};
  graph.modules["a.b-c"] = module;
  ir::Node x;
  x.name = x.target = "x";
  x.info = ir::ValueInfo::tensor(DType::float32, {4, 2});
  const ir::NodeId input = graph.add(x);
  ir::Node linear;
  linear.name = ir::node_name_of("a.b-c");
  linear.kind = ir::NodeKind::call_module;
  linear.target = "a.b-c";
  linear.op = "aten::linear";
  linear.args = {{"input", ir::NodeRef{input}}};
  linear.info = ir::ValueInfo::tensor(DType::float32, {4, 3});
  linear.formats.emplace("weight", formats::parse_format("integer(4, 2)"));
  const ir::NodeId id = graph.add(linear);
  ir::Node output;
  output.name = output.target = "output";
  output.kind = ir::NodeKind::output;
  output.args = {{"value", ir::NodeRef{id}}};
  graph.add(output);
  return graph;
}

/// An archive with the given extra files, as a TorchScript file would carry them.
std::string archive_of(const std::map<std::string, std::string>& extras) {
  test_zip::Entries entries{{"m/data.pkl", "x"}, {"m/version", "3"}, {"m/constants.pkl", "x"}};
  for (const auto& [name, bytes] : extras) entries.emplace_back("m/extra/" + name, bytes);
  return test_zip::zip_of(entries);
}

std::string refusal_of_extras(const std::map<std::string, std::string>& extras) {
  const test_zip::TemporaryFile file(archive_of(extras));
  try {
    checkpoint::read_contents(file.path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("integer codes are stored packed, with everything needed to read them", "[checkpoint]") {
  const auto files = checkpoint::extra_files(linear_graph(), Tree::dict());
  // Codes of integer(4, 2) are round(4 x) clamped to -8 .. 7: 2, -1, 7, -8, 7, 0; in two's
  // complement 2, 15, 7, 8, 7, 0, the even element in the low nibble.
  CHECK(files.at("mase/codes/0.bin") == std::string("\xF2\x87\x07", 3));
  const Tree info = parse_json(files.at("mase/info.json"), "info.json");
  const Tree& row = info.at("quantized_tensors").as_list().at(0);
  CHECK(row.at("node").as_string() == "a_b_c");
  CHECK(row.at("port").as_string() == "weight");
  CHECK(row.at("tensor").as_string() == "a.b-c.weight");
  CHECK(row.at("format").as_string() == "integer(4, 2)");
  CHECK(row.at("file").as_string() == "mase/codes/0.bin");
  CHECK(row.at("code_bits").as_int() == 4);
  CHECK(row.at("shape") == Tree::list_of(Shape{3, 2}));
}

TEST_CASE("codes of a stochastic format are those of evaluation, by nearest_even", "[checkpoint]") {
  ir::Graph graph = linear_graph();
  ir::Node& linear = graph.node(graph.find_node("a_b_c")->id);
  // 2.4, -2.4, 2.6 and so on: by chance each could become either neighbour.
  const std::vector<float> weight{0.6F, -0.6F, 0.65F, -0.65F, 0.63F, -0.63F};
  graph.tensors.at("a.b-c.weight").value = Array::from(weight, {3, 2});
  for (const char* text : {"integer(4, 2)", "integer(4, 2, rounding=stochastic, seed=1)",
                           "integer(4, 2, rounding=stochastic, seed=2)"}) {
    linear.formats.insert_or_assign("weight", formats::parse_format(text));
    const auto files = checkpoint::extra_files(graph, Tree::dict());
    CHECK(files.at("mase/codes/0.bin") == std::string("\xE2\xD3\xD3", 3));
    const Tree info = parse_json(files.at("mase/info.json"), "info.json");
    CHECK(info.at("quantized_tensors").as_list().at(0).at("format").as_string() == text);
  }
}

TEST_CASE("contents come back: graph text, caller's information, history", "[checkpoint]") {
  ir::Graph graph = linear_graph();
  graph.history.push_back(Tree("quantize"));
  Tree info = Tree::dict();
  info["tool"] = "mase 9.9";
  const test_zip::TemporaryFile file(archive_of(checkpoint::extra_files(graph, info)));
  const auto contents = checkpoint::read_contents(file.path);
  REQUIRE(contents);
  CHECK(ir::print(contents->graph) == ir::print(graph));
  CHECK(contents->info.at("tool").as_string() == "mase 9.9");
  CHECK(contents->info.at("history") == graph.history);
  CHECK(contents->info.at("tensor_hash").as_string() == checkpoint::tensor_hash(graph));
}

TEST_CASE("contents that are newer, edited or incomplete are refused", "[checkpoint]") {
  using Catch::Contains;
  const auto files = checkpoint::extra_files(linear_graph(), Tree::dict());
  CHECK(refusal_of_extras(files).empty());
  auto newer = files;
  newer["mase/info.json"] =
      replace_all(files.at("mase/info.json"), "\"format_version\": 1", "\"format_version\": 4");
  CHECK_THAT(refusal_of_extras(newer), Contains("format 4") && Contains("newer version"));
  auto edited = files;
  edited["mase/codes/0.bin"][0] = 1;
  CHECK_THAT(refusal_of_extras(edited), Contains("mase/codes/0.bin") && Contains("SHA-256"));
  auto incomplete = files;
  incomplete.erase("mase/graph.txt");
  CHECK_THAT(refusal_of_extras(incomplete), Contains("has no entry 'mase/graph.txt'"));
  auto broken = files;
  broken["mase/info.json"] = "{\"format_version\": 1";
  CHECK_THAT(refusal_of_extras(broken), Contains("info.json"));
}

TEST_CASE("one format was for both operands of a sum up to version 2, and is still",
          "[checkpoint]") {
  const auto graph_of = [](const std::string& formats) {
    return ir::parse(
        "graph \"sum\" {\n"
        "  %a : float32[1, 2] = placeholder a\n"
        "  %y : float32[1, 2] = call_function _operator.add aten::add.Tensor(self=%a, other=%a) " +
            formats +
            "\n"
            "  %z : float32[1, 2] = call_function _operator.mul aten::mul.Tensor(self=%y, "
            "other=2.0) "
            "{data_in=integer(8, 4)}\n"
            "  %output : float32[1, 2] = output output(value=%z)\n}\n",
        "sum");
  };
  const auto read_files = [](const std::map<std::string, std::string>& files) {
    const test_zip::TemporaryFile file(archive_of(files));
    return checkpoint::read_contents(file.path).value();
  };
  const auto read = [&](const ir::Graph& graph) {
    return read_files(checkpoint::extra_files(graph, Tree::dict()));
  };
  auto files = checkpoint::extra_files(graph_of("{data_in=integer(8, 2)}"), Tree::dict());
  std::string& info = files.at("mase/info.json");
  info = replace_all(info, "\"format_version\": 3", "\"format_version\": 1");
  const auto old = read_files(files);
  CHECK(old.info.at("format_version") == Tree(1));
  CHECK(old.graph.find_node("y")->formats.at("data_in_1").text() ==
        old.graph.find_node("y")->formats.at("data_in").text());
  CHECK(!old.graph.find_node("z")->formats.contains("data_in_1"));
  const auto now = read(graph_of("{data_in=integer(8, 2), data_in_1=integer(4, 1)}"));
  CHECK(now.info.at("format_version") == Tree(3));
  CHECK(now.graph.find_node("y")->formats.at("data_in_1") ==
        formats::parse_format("integer(4, 1)"));
  // Since version 3, an operand without a format is float.
  const auto half = read(graph_of("{data_in=integer(8, 2)}"));
  CHECK(half.info.at("format_version") == Tree(3));
  CHECK(!half.graph.find_node("y")->formats.contains("data_in_1"));
}

TEST_CASE("the tensor hash depends on names, types, shapes and every bit", "[checkpoint]") {
  const ir::Graph graph = linear_graph();
  const std::string hash = checkpoint::tensor_hash(graph);
  ir::Graph changed = graph;
  changed.tensors.at("a.b-c.weight").value.mutable_span<float>()[5] = -0.0F;
  CHECK(checkpoint::tensor_hash(changed) != hash);
  ir::Graph reshaped = graph;
  reshaped.tensors.at("a.b-c.weight").value = graph.tensors.at("a.b-c.weight").value.reshaped({6});
  CHECK(checkpoint::tensor_hash(reshaped) != hash);
  CHECK(checkpoint::tensor_hash(graph) == hash);
}

TEST_CASE("a weight without a code is an error that names node and tensor", "[checkpoint]") {
  ir::Graph graph = linear_graph();
  graph.tensors.at("a.b-c.weight").value.mutable_span<float>()[1] = std::stof("nan");
  CHECK_THROWS_WITH(checkpoint::extra_files(graph, Tree::dict()),
                    Catch::Contains("a_b_c") && Catch::Contains("a.b-c.weight"));
}

TEST_CASE("a graph that was changed together with its hash is refused where it is read",
          "[checkpoint]") {
  const auto refusal_with = [](const std::string& from, const std::string& to) {
    auto files = checkpoint::extra_files(linear_graph(), Tree::dict());
    const std::string before = files.at("mase/graph.txt");
    const std::string after = replace_all(before, from, to);
    REQUIRE(after != before);
    files["mase/graph.txt"] = after;
    files["mase/info.json"] =
        replace_all(files.at("mase/info.json"), sha256(before), sha256(after));
    return refusal_of_extras(files);
  };
  CHECK_THAT(refusal_with("call_module \"a.b-c\"", "call_module \"a.b-d\""),
             Catch::Contains("graph.txt") && Catch::Contains("which is missing"));
  CHECK_THAT(refusal_with("weight=@\"a.b-c.weight\"", "weight=@\"a.b-c.other\""),
             Catch::Contains("needs the tensor 'a.b-c.other'"));
  CHECK_THAT(refusal_with("{weight=integer(4, 2)}", "{wait=integer(4, 2)}"),
             Catch::Contains("has a format on 'wait'"));
  CHECK_THAT(refusal_with("tensor \"a.b-c.weight\" : float32[3, 2]",
                          "tensor \"a.b-c.weight\" : float32[3000, 2000]"),
             Catch::Contains("graph.txt:") && Catch::Contains("exceed"));
}
