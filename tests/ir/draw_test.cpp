// SPDX-License-Identifier: Apache-2.0
// Drawing: escaped graphviz text, SVG through `dot`, and what is said without it.
#include "ir/draw.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "ir/text.hpp"

namespace mase::ir {
namespace {

Graph example() {
  return parse(R"(graph "a \"b\"" {
    module "m.x \"q\" \\" : my.Relu = aten::relu()
    %x : float32[2, 4] = placeholder "odd\nname"
    %m = call_module "m.x \"q\" \\" aten::relu(self=%x) {data_in=integer(8, 4)}
    %output = output output(value=(%m, %m, %x))
  })",
               "example");
}

/// Sets PATH while it lives.
class PathSet {
 public:
  explicit PathSet(const char* path) : old_(std::getenv("PATH")) { setenv("PATH", path, 1); }
  ~PathSet() { setenv("PATH", old_.c_str(), 1); }

 private:
  std::string old_;
};

}  // namespace

TEST_CASE("dot text has one box per node, one edge per used node, and escapes labels") {
  const std::string dot = to_dot(example());
  CHECK_THAT(dot, Catch::StartsWith("digraph \"a \\\"b\\\"\" {"));
  CHECK_THAT(dot,
             Catch::Contains("call_module m.x \\\"q\\\" \\\\\\nRelu\\ndata_in: integer(8, 4)"));
  CHECK_THAT(dot, Catch::Contains("placeholder odd\\nname\\nfloat32[2, 4]"));
  CHECK_THAT(dot, Catch::Contains("\"x\" -> \"m\";"));
  const std::string edge = "\"m\" -> \"output\";";
  CHECK(dot.find(edge) != std::string::npos);
  CHECK(dot.find(edge) == dot.rfind(edge));
}

TEST_CASE("layers are drawn in boxes of their containers, and quantized nodes have a colour") {
  Graph graph;
  for (const char* path : {"features.block.0", "features.block.1", "head"}) {
    graph.modules[path] = {.path = path, .class_name = "torch.nn.ReLU", .op = "aten::relu"};
    graph.add({.kind = NodeKind::call_module, .target = path, .op = "aten::relu"});
  }
  graph.node(graph.find_node("head")->id)
      .formats.emplace("data_in", formats::parse_format("integer(8, 4)"));
  const std::string dot = to_dot(graph);
  const std::size_t outer = dot.find("subgraph \"cluster_features\""),
                    inner = dot.find("subgraph \"cluster_features.block\""),
                    layer = dot.find("\"features_block_1\" ["), head = dot.find("\"head\" [");
  CHECK(head < outer);
  CHECK(outer < inner);
  CHECK(inner < layer);
  REQUIRE(layer != std::string::npos);
  CHECK(dot.substr(head, dot.find('\n', head) - head).find("fff2a8") != std::string::npos);
  CHECK(dot.find("fff2a8") == dot.rfind("fff2a8"));
}

TEST_CASE("layers of any depth are drawn") {
  Graph graph;
  std::string path = "a";
  for (int depth = 0; depth < 100'000; ++depth) path += ".a";
  graph.modules[path] = {.path = path, .class_name = "torch.nn.ReLU", .op = "aten::relu"};
  graph.add({.kind = NodeKind::call_module, .target = path, .op = "aten::relu"});
  CHECK(to_dot(graph).find("cluster") == std::string::npos);
}

TEST_CASE("a missing dot program is an error that says how to get it") {
  const PathSet path("/nonexistent");
  try {
    to_picture(example(), "svg");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::file);
    CHECK_THAT(error.what(), Catch::Contains("graphviz"));
  }
}

TEST_CASE("SVG is drawn through dot when it is installed") {
  if (std::system("command -v dot > /dev/null 2>&1") != 0) return;
  const std::string svg = to_picture(example(), "svg");
  CHECK_THAT(svg, Catch::Contains("<svg") && Catch::Contains("</svg>"));
  CHECK_THAT(svg, Catch::Contains("float32[2, 4]"));
}

TEST_CASE("PNG and PDF are drawn through dot when it is installed") {
  if (std::system("command -v dot > /dev/null 2>&1") != 0) return;
  CHECK_THAT(to_picture(example(), "png"), Catch::StartsWith("\x89PNG"));
  CHECK_THAT(to_picture(example(), "pdf"), Catch::StartsWith("%PDF-"));
}

TEST_CASE("a graph larger than a pipe's buffer is drawn whole") {
  if (std::system("command -v dot > /dev/null 2>&1") != 0) return;
  Graph graph;
  for (int i = 0; i < 300; ++i)
    graph.add({.kind = NodeKind::placeholder, .target = std::string(400, 'x') + std::to_string(i)});
  const std::string svg = to_picture(graph, "svg");
  CHECK(to_dot(graph).size() > 200000);
  CHECK_THAT(svg, Catch::Contains("</svg>"));
}

}  // namespace mase::ir
