// SPDX-License-Identifier: Apache-2.0
// Inference without LibTorch: hand-made graphs, what is unknown, and errors. What LibTorch finds is
// compared in tests/torch.
#include "ir/inference.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "support/message_of.hpp"

using namespace mase;
using mase::test::message_of;

namespace {

/// %x : float32[2, 3, 4], %i : int64[5], then these lines, and the output %y.
ir::Graph graph_of(const std::string& lines) {
  return ir::parse(
      "graph \"g\" {\n  %x : float32[2, 3, 4] = placeholder x\n  %i : int64[5] = placeholder i\n" +
          lines + "  %output = output output(value=%y)\n}\n",
      "test");
}

std::string line(const std::string& name, const std::string& call) {
  return "  %" + name + " = call_function f " + call + "\n";
}

/// What infer_all finds for %y; "none" if it stops.
std::string found(const std::string& lines) {
  ir::Graph graph = graph_of(lines);
  if (ir::infer_all(graph) != ir::no_node) return "none";
  return ir::print(graph.find_node("y")->info);
}

std::string error_of(const std::string& call) {
  return message_of(Fault::file, [&] { found(line("y", call)); });
}

}  // namespace

TEST_CASE("sizes on the host reach the shapes that are computed from them") {
  const std::string rows = line("n", "aten::size.int(self=%x, dim=0)");
  const std::string columns = line("c", "aten::size.int(self=%x, dim=-1)");
  const std::string halves = columns + line("h", "aten::floordiv.int(a=%c, b=2)");
  CHECK(found(rows + line("y", "aten::view(self=%x, size=[%n, -1])")) == "float32[2, 12]");
  CHECK(found(halves + line("y", "aten::slice.Tensor(self=%x, dim=2, end=%h)")) ==
        "float32[2, 3, 2]");
  CHECK(found(line("s", "aten::size(self=%x)") + line("e", "mase::getitem(value=%s, index=-1)") +
              line("y", "aten::arange(end=%e)")) == "int64[4]");
  CHECK(found(line("s", "aten::size(self=%x)") +
              line("e", "mase::getitem(value=%s, index=slice(0, 2, none))") +
              line("l", "aten::add.t(a=%e, b=[2, 2])") +
              line("y", "aten::reshape(self=%x, shape=%l)")) == "float32[2, 3, 2, 2]");
  CHECK(found(columns + line("f", "aten::mul.int_float(a=%c, b=1.6)") +
              line("e", "aten::Int.float(a=%f)") + line("y", "aten::zeros(size=[%e])")) ==
        "float32[6]");
}

TEST_CASE("a shape that depends on the elements of a tensor is unknown") {
  const std::string number =
      line("e", "aten::select.int(self=%i, dim=0, index=0)") + line("n", "aten::Int.Tensor(a=%e)");
  CHECK(found(number + line("y", "aten::zeros(size=[%n])")) == "none");
  CHECK(found(number + line("y", "aten::view(self=%x, size=[%n, 5])")) == "none");
  CHECK(found(number + line("y", "aten::add.int(a=%n, b=1)")) == "int");
  CHECK(found(line("m", "aten::gt.Scalar(self=%i, other=2)") +
              line("y", "mase::getitem(value=%i, index=%m)")) == "none");
  CHECK(found(line("y", "aten::nonzero(self=%x)")) == "none");
}

TEST_CASE("infer_all returns the first node without a rule and leaves those after it") {
  ir::Graph graph =
      graph_of(line("a", "aten::relu(self=%x)") + line("b", "aten::nonzero(self=%a)") +
               line("y", "aten::relu(self=%b)"));
  CHECK(ir::infer_all(graph) == graph.find_node("b")->id);
  CHECK(ir::print(graph.find_node("a")->info) == "float32[2, 3, 4]");
  CHECK(graph.find_node("y")->info.kind == ir::ValueInfo::Kind::unknown);
}

TEST_CASE("an error names the node, the operator and the operands that do not fit it") {
  CHECK(error_of("aten::view(self=%x, size=[5, -1])") ==
        "node 'y' (aten::view): the sizes do not divide the elements; given "
        "self=float32[2, 3, 4], size=list(int, int)");
  CHECK(error_of("aten::add.Tensor(self=%x, other=%i)") ==
        "node 'y' (aten::add): the sizes 4 and 5 do not go together; given "
        "self=float32[2, 3, 4], other=int64[5]");
  CHECK(error_of("aten::transpose.int(self=%x, dim0=0, dim1=3)") ==
        "node 'y' (aten::transpose): there is no dimension 3 among 3; given "
        "self=float32[2, 3, 4], dim0=0, dim1=3");
  CHECK(error_of("aten::zeros(size=[9000000000000000000, 9])") ==
        "node 'y' (aten::zeros): there is no tensor of the shape [9000000000000000000, 9]; given "
        "size=list(int, int)");
}

TEST_CASE("dtypes promote by dimensions first") {
  CHECK(found(line("y", "aten::mul.Scalar(self=%i, other=2)")) == "int64[5]");
  CHECK(found(line("y", "aten::mul.Scalar(self=%i, other=0.5)")) == "float32[5]");
  CHECK(found(line("y", "aten::div.Tensor(self=%i, other=%i)")) == "float32[5]");
  CHECK(found(line("y", "aten::div.Tensor_mode(self=%i, other=%i, rounding_mode=\"floor\")")) ==
        "int64[5]");
  CHECK(found(line("b", "aten::to.dtype(self=%x, dtype=15)") +
              line("h", "aten::to.dtype(self=%x, dtype=5)") +
              line("y", "aten::add.Tensor(self=%b, other=%h)")) == "float32[2, 3, 4]");
  CHECK(found(line("b", "aten::to.dtype(self=%x, dtype=5)") + line("s", "aten::sum(self=%x)") +
              line("y", "aten::mul.Tensor(self=%b, other=%s)")) == "float16[2, 3, 4]");
  CHECK(found(line("b", "aten::eq.Scalar(self=%i, other=0)") + line("y", "aten::sum(self=%b)")) ==
        "int64[]");
}

namespace {

/// Extreme and ordinary arguments of every kind.
ir::Value hostile_value(Random& random, int depth = 0) {
  constexpr std::array<std::int64_t, 12> numbers{0,
                                                 1,
                                                 2,
                                                 3,
                                                 4,
                                                 -1,
                                                 -2,
                                                 5,
                                                 1LL << 31,
                                                 1LL << 62,
                                                 std::numeric_limits<std::int64_t>::min(),
                                                 std::numeric_limits<std::int64_t>::max()};
  switch (random.below(depth == 0 ? 9 : 6)) {
    case 0:
      return {};
    case 1:
      return random.below(2) == 0;
    case 2:
      return static_cast<double>(numbers[random.below(numbers.size())]) / 4;
    case 3:
      return "same";
    case 4:
      return ir::NodeRef{static_cast<ir::NodeId>(random.below(6))};
    case 5:
      return numbers[random.below(numbers.size())];
    case 6:
      return ir::Value::slice(hostile_value(random, 1), hostile_value(random, 1),
                              hostile_value(random, 1));
    default:
      break;
  }
  ir::Value::List items;
  for (std::uint64_t left = random.below(5); left > 0; --left)
    items.push_back(hostile_value(random, depth + 1));
  return random.below(2) == 0 ? ir::Value::list(items) : ir::Value::tuple(items);
}

/// A call of an operator with some of the arguments of its row.
ir::Node hostile_call(const ir::OpRow& row, const ir::CallRow& call, Random& random) {
  ir::Node node;
  node.name = "y";
  node.kind = ir::NodeKind::call_function;
  node.op = std::string(call.aten);
  for (const ir::ArgRow& argument : row.args) {
    const bool data = !argument.port.empty() && random.below(4) != 0;
    const ir::NodeRef source{static_cast<ir::NodeId>(random.below(6))};
    if (random.below(3) != 0)
      node.args.push_back(
          {std::string(argument.name), data ? ir::Value(source) : hostile_value(random)});
  }
  return node;
}

}  // namespace

TEST_CASE("hostile arguments give an error or a result") {
  int results = 0, errors = 0;
  for (const ir::OpRow& row : ir::op_table())
    for (const ir::CallRow& call : row.calls)
      for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Random random(seed);
        ir::Graph graph =
            graph_of(line("n", "aten::size(self=%x)") +
                     line("p", "aten::select.int(self=%x, dim=0, index=0)") +
                     line("s", "aten::sum(self=%x)") + line("y", "aten::relu(self=%x)"));
        ir::infer_all(graph);
        ir::Node node = hostile_call(row, call, random);
        node.id = graph.find_node("y")->id;
        graph.node(node.id) = node;
        try {
          results += ir::infer_all(graph) == ir::no_node ? 1 : 0;
        } catch (const Error& error) {
          CHECK(std::string(error.what()).starts_with("node 'y'"));
          ++errors;
        }
      }
  CHECK(results > 500);
  CHECK(errors > 500);
}
