// SPDX-License-Identifier: Apache-2.0
// Node names: every line of torch.fx's own listings of the fixture models is reproduced.
#include <catch2/catch.hpp>
#include <filesystem>
#include <iterator>
#include <set>

#include "base/file.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "ir/graph.hpp"
#include "ir/naming.hpp"
#include "test_paths.hpp"

namespace mase::ir {
namespace {

NodeKind parse_kind(const std::string& text) {
  for (NodeKind kind : {NodeKind::placeholder, NodeKind::get_attr, NodeKind::call_function,
                        NodeKind::call_method, NodeKind::call_module})
    if (kind_name(kind) == text) return kind;
  return NodeKind::output;
}

std::vector<std::vector<std::string>> fx_lines(const std::string& path) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& line : split(read_file(path), '\n')) {
    const auto cells = split(line, '\t');
    if (cells.size() == 6 && cells[0] != "op") lines.push_back(cells);
  }
  return lines;
}

std::string add(Graph& graph, const std::string& name) {
  Node node;
  node.name = name;
  return graph.node(graph.add(std::move(node))).name;
}

}  // namespace

TEST_CASE("adding the nodes of each fixture in order gives torch.fx's names") {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(MASE_TEST_FOLDER) + "/fixtures/models")) {
    const std::string path = entry.path().string() + "/fx.txt";
    if (!file_exists(path)) continue;
    ++files;
    Graph graph;
    for (const auto& cells : fx_lines(path)) {
      const NodeId id = graph.add(Node{.kind = parse_kind(cells[0]), .target = cells[2]});
      INFO(path << ": " << cells[2]);
      CHECK(graph.node(id).name == cells[1]);
    }
  }
  CHECK(files >= 10);
}

TEST_CASE("module paths become torch.fx's snake case") {
  CHECK(node_name_of("seq_blocks.2") == "seq_blocks_2");
  CHECK(node_name_of("bert.embeddings.LayerNorm") == "bert_embeddings_layer_norm");
  CHECK(node_name_of("MyHTTPServer") == "my_httpserver");
  CHECK(node_name_of("conv2D") == "conv2d");
  CHECK(node_name_of("A1B2") == "a1b2");
  CHECK(node_name_of("GELUActivation") == "geluactivation");
  CHECK(node_name_of("foo_Bar") == "foo_bar");
  CHECK(node_name_of("2x") == "_2x");
  CHECK(node_name_of("x-y z") == "x_y_z");
  CHECK(node_name_of("") == "_unnamed");
  CHECK(node_name_of("\xC3\xA9") == "_");
}

TEST_CASE("taken names count on as in torch.fx") {
  // Expected names printed by torch 2.13's fx.Graph.create_node for the same requests.
  Graph graph;
  CHECK(add(graph, "relu") == "relu");
  CHECK(add(graph, "relu") == "relu_1");
  CHECK(add(graph, "relu_1") == "relu_2");
  CHECK(add(graph, "relu") == "relu_3");
  CHECK(add(graph, "relu_2") == "relu_4");
  CHECK(add(graph, "a_5") == "a_5");
  CHECK(add(graph, "a_5") == "a_6");
  CHECK(add(graph, "a") == "a");
  CHECK(add(graph, "a_5") == "a_7");
  CHECK(add(graph, "add_1_1") == "add_1_1");
  CHECK(add(graph, "add_1_1") == "add_1_2");
  CHECK(add(graph, "a_01") == "a_01");
  CHECK(add(graph, "a_01") == "a_2");
}

TEST_CASE("the first free number after the wanted one is taken, also one that was freed") {
  Graph graph;
  Random random(1);
  std::set<std::string> names;
  for (int i = 0; i < 3000; ++i) {
    const auto draw = [&](std::size_t count) {
      return static_cast<std::size_t>(random.uniform() * static_cast<double>(count));
    };
    if (draw(3) == 0 && !names.empty()) {
      const auto victim = std::next(names.begin(), static_cast<std::ptrdiff_t>(draw(names.size())));
      graph.erase(graph.find_node(*victim)->id);
      names.erase(victim);
      continue;
    }
    const std::size_t wanted = draw(8);  // "add", "add_1", ...
    std::string expected = wanted == 0 ? "add" : "add_" + std::to_string(wanted);
    for (std::size_t number = wanted + 1; names.contains(expected); ++number)
      expected = "add_" + std::to_string(number);
    CHECK(add(graph, wanted == 0 ? "add" : "add_" + std::to_string(wanted)) == expected);
    names.insert(expected);
  }
}

TEST_CASE("words of Python get a number, as in torch.fx") {
  for (const std::string word : {"input", "max", "pow", "for", "zip", "yield", "device", "sum"}) {
    Graph graph;
    CHECK(add(graph, word) == word + "_1");
  }
  Graph graph;
  CHECK(add(graph, "mean") == "mean");
  CHECK(add(graph, "match") == "match");
}

TEST_CASE("absurd numbers at the end of a name do not overflow the counter") {
  Graph graph;
  const std::string name = "x_9223372036854775807";
  CHECK(add(graph, name) == name);
  CHECK(add(graph, name) == name + "_1");
}

TEST_CASE("call names come from the last component of the target") {
  CHECK(wanted_name({.kind = NodeKind::call_function, .target = "_operator.truediv"}) == "truediv");
  CHECK(wanted_name({.kind = NodeKind::call_method, .target = "__getitem__"}) == "getitem");
  CHECK(wanted_name({.kind = NodeKind::get_attr, .target = "bert.Pos_Emb"}) == "bert_pos_emb");
  CHECK(wanted_name({.kind = NodeKind::output, .target = "anything"}) == "output");
}

}  // namespace mase::ir
