// SPDX-License-Identifier: Apache-2.0
// The dimensions of results, by the rules of torch's documentation: one call for each row.
#include "ir/dimension_map.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "ir/text.hpp"

using namespace mase;

namespace {

/// A node %y of these type and call on %x : float32[2, 3, 4].
ir::Graph graph_of(const std::string& type, const std::string& call) {
  return ir::parse(
      "graph \"g\" {\n  %x : float32[2, 3, 4] = placeholder x\n  %n : int = "
      "call_method size aten::size.int(self=%x, dim=0)\n  %y : " +
          type + " = call_function f " + call + "\n  %output : none = output output(value=%y)\n}\n",
      "test");
}

/// "0 2~ +": the input's dimension 0, of 2 each place made of several, and a new one. "1*" has
/// other places than the input's dimension 1. "none": no rule.
std::string map_of(const std::string& type, const std::string& call) {
  const ir::Graph graph = graph_of(type, call);
  const auto map = ir::dimension_map(graph, *graph.find_node("y"));
  if (!map) return "none";
  std::string text;
  for (const ir::ResultDimension& dim : *map) {
    const std::string mark = dim.places == ir::Places::same    ? ""
                             : dim.places == ir::Places::mixed ? "~"
                                                               : "*";
    text += (text.empty() ? "" : " ") + (dim.of ? std::to_string(*dim.of) + mark : "+");
  }
  return text;
}

struct Row {
  std::string type, call, map;
};

}  // namespace

TEST_CASE("each dimension of a result is one of the input, or new") {
  const std::vector<Row> rows{
      {"float32[2, 3, 4]", "aten::relu(self=%x)", "0 1 2"},
      {"float32[2, 3, 4]", "aten::contiguous(self=%x)", "0 1 2"},
      {"float32[2, 3, 4]", "aten::softmax.int(self=%x, dim=-1)", "0 1 2~"},
      {"float32[2, 3, 4]", "aten::cumsum(self=%x, dim=1)", "0 1~ 2"},
      {"float32[4, 3, 2]", "aten::transpose.int(self=%x, dim0=0, dim1=-1)", "2 1 0"},
      {"float32[2, 4, 3]", "aten::mT(self=%x)", "0 2 1"},
      {"float32[4, 3, 2]", "aten::numpy_T(self=%x)", "2 1 0"},
      {"float32[2, 3, 3]", "aten::diff(self=%x)", "0 1 2~"},
      {"float32[2, 2, 4]", "aten::diff(self=%x, n=1, dim=1)", "0 1~ 2"},
      {"float32[4, 2, 3]", "aten::permute(self=%x, dims=[-1, 0, 1])", "2 0 1"},
      {"float32[2, 4]", "aten::mean.dim(self=%x, dim=[1], keepdim=false)", "0 2"},
      {"float32[2, 1, 1]", "aten::mean.dim(self=%x, dim=[-1, -2], keepdim=true)", "0 + +"},
      {"tuple(float32[3, 4], int64[3, 4])", "aten::max.dim(self=%x, dim=0, keepdim=false)", "1 2"},
      {"float32[]", "aten::sum(self=%x)", ""},
      {"int64[2, 4]", "aten::argmax(self=%x, dim=1, keepdim=false)", "0 2"},
      {"float32[2, 3, 1, 4]", "aten::unsqueeze(self=%x, dim=-2)", "0 1 + 2"},
      {"float32[2, 3, 4]", "aten::squeeze.dim(self=%x, dim=1)", "0 1 2"},
      {"float32[5, 2, 3, 4]", "aten::expand(self=%x, size=[5, -1, -1, -1])", "+ 0 1 2"},
      {"float32[2, 5, 4]", "aten::pad(self=%x, pad=[0, 0, 1, 1])", "0 1* 2"},
      {"float32[2, 6, 4]", "aten::cat(tensors=[%x, %x], dim=1)", "0 1* 2"},
      {"float32[2, 3, 4]", "aten::flip(self=%x, dims=[0, 2])", "0~ 1 2~"},
      {"float32[2, 3, 4]", "aten::triu(self=%x)", "0 1 2"},
      {"float32[2, 4]", "aten::select.int(self=%x, dim=1, index=2)", "0 2"},
      {"float32[2, 2, 4]", "aten::slice.Tensor(self=%x, dim=1, start=0, end=2)", "0 1* 2"},
      {"list(float32[2, 3, 2], float32[2, 3, 2])", "aten::chunk(self=%x, chunks=2, dim=-1)",
       "0 1 2*"},
      {"list(float32[3, 4], float32[3, 4])", "aten::unbind.int(self=%x, dim=0)", "1 2"},
      {"float32[2, 1, 2]",
       "mase::getitem(value=%x, index=(slice(none, none, none), none, %n, slice(1, 3, none)))",
       "0 + 2*"},
      {"float32[4]", "mase::getitem(value=%x, index=(1, -1))", "2"},
  };
  for (const Row& row : rows) {
    INFO(row.call);
    CHECK(map_of(row.type, row.call) == row.map);
  }
}

TEST_CASE("what joins dimensions, is not constant or names no dimension has no map") {
  CHECK(map_of("float32[6, 4]", "aten::view(self=%x, size=[6, 4])") == "none");
  CHECK(map_of("float32[2, 3, 4]", "aten::softmax.int(self=%x, dim=%n)") == "none");
  CHECK(map_of("float32[2, 3, 4]", "aten::transpose.int(self=%x, dim0=0, dim1=3)") == "none");
  CHECK(map_of("float32[2, 3, 4]", "aten::maximum(self=%x, other=%x)") == "none");
  CHECK(map_of("float32[3, 4]", "mase::getitem(value=%x, index=[0])") == "none");
}

TEST_CASE("a dimension of the input is found in the result, unless it is gone") {
  const ir::DimensionMap map{{2}, {std::nullopt}, {0}};
  CHECK(ir::place_of(map, 2) == 0u);
  CHECK(ir::place_of(map, 0) == 2u);
  CHECK(ir::place_of(map, 1) == std::nullopt);
}

TEST_CASE("only ops that reorder dimensions are permutations") {
  const auto order = [](const std::string& type, const std::string& call) {
    const ir::Graph graph = graph_of(type, call);
    return ir::permutation_of(graph, *graph.find_node("y"));
  };
  using Order = std::vector<std::size_t>;
  CHECK(order("float32[4, 2, 3]", "aten::permute(self=%x, dims=[2, 0, 1])") == Order{2, 0, 1});
  CHECK(order("float32[3, 2, 4]", "aten::transpose.int(self=%x, dim0=1, dim1=0)") ==
        Order{1, 0, 2});
  CHECK(order("float32[2, 3, 4]", "aten::relu(self=%x)") == std::nullopt);
  CHECK(order("float32[2, 3, 4]", "aten::permute(self=%x, dims=[0, 1])") == std::nullopt);
}
