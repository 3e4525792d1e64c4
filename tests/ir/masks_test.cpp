// SPDX-License-Identifier: Apache-2.0
// Where masks are: what puts them into a graph, what passes them on, and what takes them for
// numbers.
#include "ir/masks.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "ir/text.hpp"

using namespace mase;

namespace {

/// The names of nodes whose results have masks, of a graph with these lines.
std::string masked_in(const std::string& lines) {
  ir::Graph graph = ir::parse("graph \"g\" {\n  tensor b : float32[3] buffer\n" +
                                  std::string("  tensor c : float32[3] buffer\n") +
                                  "  %x : float32[2, 3, 3] = placeholder x\n"
                                  "  %m : float32[2, 1, 3] = placeholder m\n"
                                  "  %b : float32[3] = get_attr b\n"
                                  "  %c : float32[3] = get_attr c\n" +
                                  lines + "}\n",
                              "test");
  const float least = std::numeric_limits<float>::lowest();
  graph.tensors.at("b").value = Array::from<float>({0, least, 0}, {3});
  graph.tensors.at("c").value = Array::from<float>({0, -1e9F, 0}, {3});
  const ir::Masks masks(graph);
  std::string names;
  for (const ir::NodeId id : graph.order())
    if (masks.in(id)) names += graph.node(id).name + " ";
  return names;
}

std::string call(const std::string& name, const std::string& text) {
  return "  %" + name + " : float32[2, 3, 3] = call_function f aten::" + text + "\n";
}

const std::string softmax = call("y", "softmax.int(self=%s, dim=-1)");
const std::string output = "  %output : float32[2, 3, 3] = output output(value=%y)\n";

std::string filled(const std::string& value) {
  return call("s", "masked_fill.Scalar(self=%x, mask=%c, value=" + value + ")");
}

}  // namespace

TEST_CASE("masks are numbers from -2^100 down on their way to a softmax") {
  CHECK(masked_in(filled("-inf") + softmax + output) == "s ");
  CHECK(masked_in(filled("-3.4028234663852886e+38") + softmax + output) == "s ");
  CHECK(masked_in(filled("-1e+30") + softmax + output) == "");
  CHECK(masked_in(call("s", "add.Tensor(self=%x, other=%c)") + softmax + output) == "x s ");
}

TEST_CASE("masks come from constants, products and inputs that are added") {
  CHECK(masked_in(call("s", "add.Tensor(self=%x, other=%b)") + softmax + output) == "x b s ");
  CHECK(masked_in(call("s", "add.Tensor(self=%x, other=%m)") + softmax + output) == "x m s ");
  CHECK(masked_in(call("p", "mul.Scalar(self=%m, other=-3.4028234663852886e+38)") +
                  call("s", "add.Tensor(self=%p, other=%c)") + softmax + output) == "p s ");
  CHECK(masked_in(call("p", "mul.Scalar(self=%m, other=-3.0)") +
                  call("s", "add.Tensor(self=%p, other=%c)") + softmax + output) == "");
  CHECK(masked_in(call("s", "where.self(condition=%m, self=%x, other=%b)") + softmax + output) ==
        "b s ");
  // An input that a softmax reads as it is has scores.
  CHECK(masked_in(call("y", "softmax.int(self=%x, dim=-1)") + output) == "");
}

TEST_CASE("masks pass everything that adds, and positive factors") {
  const auto behind = [](const std::string& text) {
    return masked_in(filled("-inf") + call("t", text) + call("y", "softmax.int(self=%t, dim=-1)") +
                     output);
  };
  CHECK(behind("sub.Tensor(self=%s, other=%c)") == "s t ");
  CHECK(behind("sub.Tensor(self=%c, other=%s)") == "");
  CHECK(behind("rsub.Tensor(self=%c, other=%s)") == "s t ");
  CHECK(behind("add.Tensor(self=%s, other=%c, alpha=2)") == "s t ");
  CHECK(behind("add.Tensor(self=%c, other=%s, alpha=-1)") == "");
  CHECK(behind("baddbmm(self=%s, batch1=%x, batch2=%x)") == "s t ");
  CHECK(behind("baddbmm(self=%c, batch1=%s, batch2=%x)") == "");
  CHECK(behind("baddbmm(self=%s, batch1=%x, batch2=%x, beta=-1)") == "");
  CHECK(behind("mul.Scalar(self=%s, other=0.125)") == "s t ");
  CHECK(behind("div.Scalar(self=%s, other=2.0)") == "s t ");
  CHECK(behind("div.Scalar(self=%s, other=-2.0)") == "");
  CHECK(behind("div.Tensor(self=%c, other=%s)") == "");
  CHECK(behind("clamp(self=%s, min=-3.4028234663852886e+38)") == "s t ");
  CHECK(behind("clamp(self=%s, min=-8.0)") == "");
  CHECK(behind("maximum(self=%s, other=%x)") == "");
  CHECK(behind("cat(tensors=[%s, %x], dim=2)") == "s t ");
}

TEST_CASE("masks pass ops that move elements, and no op that takes them for numbers") {
  CHECK(masked_in(filled("-inf") + call("t", "transpose.int(self=%s, dim0=1, dim1=2)") +
                  call("y", "softmax.int(self=%t, dim=-1)") + output) == "s t ");
  CHECK(masked_in(filled("-inf") + call("t", "abs(self=%s)") +
                  call("y", "softmax.int(self=%t, dim=-1)") + output) == "");
  CHECK(masked_in(filled("-inf") + call("u", "relu(self=%s)") + softmax +
                  "  %output : float32[2, 3, 3] = output output(value=(%y, %u))\n") == "");
  CHECK(masked_in(filled("-inf") + softmax +
                  "  %output : float32[2, 3, 3] = output output(value=(%y, %s))\n") == "");
}
