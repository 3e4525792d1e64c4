// SPDX-License-Identifier: Apache-2.0
// Inference without LibTorch: hand-made graphs, what is unknown, and errors. What LibTorch finds is
// compared in tests/torch.
#include "ir/inference.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "base/error.hpp"
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
  CHECK(found(line("y", "aten::lgamma(self=%x)")) == "none");
}

TEST_CASE("infer_all returns the first node without a rule and leaves those after it") {
  ir::Graph graph = graph_of(line("a", "aten::relu(self=%x)") + line("b", "aten::lgamma(self=%a)") +
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
        "node 'y' (aten::zeros): the result would have the shape [9000000000000000000, 9]; given "
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
