// SPDX-License-Identifier: Apache-2.0
// Inference against LibTorch, call by call: each operator of the op table, every pair of dtypes,
// and random shapes and windows.
#include <algorithm>
#include <array>
#include <exception>
#include <set>

#include "base/error.hpp"
#include "base/random.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "torch/catch.hpp"
#include "torch/run/inference_calls.hpp"
#include "torch/run/observed_infos.hpp"

using namespace mase;
using namespace mase::test;

namespace {

/// The inputs of all calls.
const std::string placeholders =
    "  %x : float32[2, 3, 4] = placeholder x\n  %row : float32[4] = placeholder row\n"
    "  %col : float32[3, 1] = placeholder col\n  %zero : float32[] = placeholder zero\n"
    "  %h : float16[2, 3, 4] = placeholder h\n  %d : float64[] = placeholder d\n"
    "  %i : int64[2, 3, 4] = placeholder i\n  %j : int32[4] = placeholder j\n"
    "  %u : uint8[2, 3, 4] = placeholder u\n  %n : int64[] = placeholder n\n"
    "  %b : bool[2, 3, 4] = placeholder b\n  %e : float32[0] = placeholder e\n"
    "  %m : float32[3, 4] = placeholder m\n  %k : float32[4, 5] = placeholder k\n"
    "  %o : float32[2, 1, 4, 1] = placeholder o\n  %w : float32[2, 4, 5] = placeholder w\n"
    "  %seq : float32[2, 4, 11] = placeholder seq\n"
    "  %img : float32[2, 4, 9, 8] = placeholder img\n"
    "  %vol : float32[2, 4, 5, 6, 7] = placeholder vol\n"
    "  %w1 : float32[6, 2, 3] = placeholder w1\n  %w2 : float32[6, 4, 3, 2] = placeholder w2\n"
    "  %w3 : float32[6, 4, 2, 2, 2] = placeholder w3\n"
    "  %t1 : float32[4, 3, 3] = placeholder t1\n  %t2 : float32[4, 3, 3, 2] = placeholder t2\n"
    "  %q : float32[2, 2, 5, 4] = placeholder q\n  %z : float32[2, 2, 7, 4] = placeholder z\n"
    "  %s2 : float32[2, 3, 2] = placeholder s2\n  %x3 : float32[5, 3, 6] = placeholder x3\n"
    "  %k2 : float32[5, 4] = placeholder k2\n  %qt : float32[2, 4, 7] = placeholder qt\n"
    "  %square : float32[4, 4] = placeholder square\n  %c4 : int64[4] = placeholder c4\n"
    "  %qkv : float32[12, 4] = placeholder qkv\n  %qkv_bias : float32[12] = placeholder qkv_bias\n"
    "  %l_ih : float32[8, 6] = placeholder l_ih\n  %l_hh : float32[8, 2] = placeholder l_hh\n"
    "  %g_ih : float32[6, 6] = placeholder g_ih\n  %g_hh : float32[6, 2] = placeholder g_hh\n"
    "  %r_ih : float32[2, 6] = placeholder r_ih\n  %r_hh : float32[2, 2] = placeholder r_hh\n"
    "  %even : float32[2, 4, 6, 8] = placeholder even\n"
    "  %grid : float32[2, 3, 5, 2] = placeholder grid\n"
    "  %theta : float32[2, 2, 3] = placeholder theta\n  %c5 : int64[5] = placeholder c5\n";

ir::Graph graph_of_call(const std::string& inputs, const std::string& call) {
  return ir::parse("graph \"call\" {\n" + inputs + "  %y = call_function f " + call +
                       "\n  %output = output output(value=%y)\n}\n",
                   "test");
}

bool has_negative_size(const ir::ValueInfo& info) {
  return std::ranges::any_of(info.shape, [](std::int64_t size) { return size < 0; });
}

/// What inference finds wrong about a call; "refused" if LibTorch does not run it.
std::string fault_of(const std::string& inputs, const std::string& call) {
  ir::Graph graph = graph_of_call(inputs, call);
  try {
    observe_infos(graph);
  } catch (const std::exception& error) {  // one of oneDNN's, too
    return std::string("refused: ") + error.what();
  }
  // LibTorch gives one to expand(size=[0, -1]) of a tensor without dimensions.
  if (has_negative_size(graph.find_node("y")->info)) return "refused: a size is negative";
  std::string text;
  for (const std::string& wrong : wrong_infos(graph)) text += call + ": " + wrong + "\n";
  return text;
}

std::string operator_of(const std::string& call) {
  return std::string(ir::base_op(call.substr(0, call.find('('))));
}

/// The faults of calls that LibTorch runs; counts these.
struct Faults {
  std::string text;
  int run = 0, refused = 0;
  void add(const std::string& inputs, const std::string& call) {
    const std::string fault = fault_of(inputs, call);
    const bool runs = !fault.starts_with("refused");
    (runs ? run : refused) += 1;
    if (runs) text += fault;
  }
};

}  // namespace

TEST_CASE("inference finds what LibTorch finds for a call of every operator", "[inference]") {
  std::string faults;
  for (const std::string& call : inference_calls()) faults += fault_of(placeholders, call);
  CHECK(faults == "");
}

TEST_CASE("every operator of the op table that is called has a call here", "[inference]") {
  std::set<std::string> called;
  for (const std::string& call : inference_calls()) called.insert(operator_of(call));
  for (const ir::CallRow& row : ir::call_table()) {
    INFO(row.aten);
    if (row.aten == "aten::tensor" || row.aten == "aten::Bool") continue;  // which do not run
    CHECK(called.contains(std::string(row.aten)));
  }
}

TEST_CASE("inference promotes every pair of dtypes as LibTorch does", "[inference]") {
  const std::array types{"float32", "float64", "float16", "bfloat16", "int64", "int32",
                         "int16",   "int8",    "uint8",   "bool",     "uint16"};
  const std::array calls{"aten::add.Tensor(self=%a, other=%b)",
                         "aten::div.Tensor(self=%a, other=%b)",
                         "aten::maximum(self=%a, other=%b)",
                         "aten::eq.Tensor(self=%a, other=%b)",
                         "aten::where.self(condition=%c, self=%a, other=%b)",
                         "aten::cat(tensors=[%a, %b], dim=0)",
                         "aten::pow.Tensor_Tensor(self=%a, exponent=%b)"};
  Faults faults;
  for (const char* left : types)
    for (const char* right : types)
      for (const char* shapes : {"[2] [2]", "[2] []", "[] [2]", "[] []"}) {
        const std::string text = shapes;
        const auto gap = text.find(' ');
        const std::string inputs = std::string("  %a : ") + left + text.substr(0, gap) +
                                   " = placeholder a\n  %b : " + right + text.substr(gap + 1) +
                                   " = placeholder b\n  %c : bool[2] = placeholder c\n";
        for (const char* call : calls) faults.add(inputs, call);
      }
  CHECK(faults.text == "");
  CHECK(faults.run > 2400);
}

TEST_CASE("inference gives each dtype the one of LibTorch's functions and reductions",
          "[inference]") {
  Faults faults;
  for (const char* type : {"float32", "float64", "float16", "bfloat16", "int64", "int32", "int16",
                           "int8", "uint8", "bool"})
    for (const ir::CallRow& row : ir::call_table()) {
      const ir::OpFamily family = ir::family_of(row.op);
      const std::string op(row.aten);
      const std::string input = std::string("  %a : ") + type + "[2, 3] = placeholder a\n";
      if (family == ir::OpFamily::unary) faults.add(input, op + "(self=%a)");
      if (family == ir::OpFamily::reduction) {
        faults.add(input, op + "(self=%a)");
        faults.add(input, op + ".dim(self=%a, dim=1, keepdim=true)");
        faults.add(input, op + ".dim_IntList(self=%a, dim=[0, 1])");
      }
      if (family == ir::OpFamily::scan) faults.add(input, op + "(self=%a, dim=1)");
      for (const char* other : {"2", "0.5", "true"})
        if (family == ir::OpFamily::elementwise) {
          faults.add(input, op + ".Scalar(self=%a, other=" + other + ")");
          faults.add(input, op + ".Tensor_Scalar(self=%a, exponent=" + other + ")");
          faults.add(input, op + "(self=%a, min=" + other + ")");
        }
    }
  CHECK(faults.text == "");
  CHECK(faults.run > 700);
}

namespace {

/// Draws calls; sizes and settings are small, so that edges occur often.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool coin() { return between(0, 1) == 1; }
  std::string number(std::int64_t low, std::int64_t high) {
    return std::to_string(between(low, high));
  }
  std::string numbers(std::size_t count, std::int64_t low, std::int64_t high) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + number(low, high);
    return "[" + text + "]";
  }
  /// A shape with 1 in some places, so that two of them often broadcast.
  std::string broadcast_shape() {
    std::string text;
    const std::int64_t rank = between(0, 4);
    for (std::int64_t d = rank; d > 0; --d)
      text += (text.empty() ? "" : ", ") + std::to_string(coin() ? 1 : d + 1);
    return "[" + text + "]";
  }
  std::string truth() { return coin() ? "true" : "false"; }

 private:
  Random random_;
};

std::string input(const std::string& name, const std::string& shape) {
  return "  %" + name + " : float32" + shape + " = placeholder " + name + "\n";
}

/// Draws `count` calls by a function that adds one.
template <class F>
Faults drawn(int count, F add) {
  Faults faults;
  for (int i = 0; i < count; ++i) {
    Draw draw(static_cast<std::uint64_t>(i));
    add(draw, faults);
  }
  return faults;
}

}  // namespace

TEST_CASE("inference broadcasts random shapes as LibTorch does", "[inference]") {
  const Faults faults = drawn(300, [](Draw& draw, Faults& found) {
    const std::string inputs = input("a", draw.broadcast_shape()) +
                               input("b", draw.broadcast_shape()) +
                               input("c", draw.broadcast_shape());
    found.add(inputs, "aten::add.Tensor(self=%a, other=%b)");
    found.add(inputs, "aten::clamp.Tensor(self=%a, min=%b, max=%c)");
    found.add(inputs, "aten::matmul(self=%a, other=%b)");
    found.add(inputs, "aten::expand_as(self=%a, other=%b)");
  });
  CHECK(faults.text == "");
  CHECK(faults.run > 300);
}

TEST_CASE("inference finds the shapes of random convolutions", "[inference]") {
  const Faults faults = drawn(400, [](Draw& draw, Faults& found) {
    const auto space = static_cast<std::size_t>(draw.between(1, 3));
    const std::string d = std::to_string(space) + "d";
    const std::int64_t groups = draw.between(1, 2), in = groups * draw.between(1, 2);
    const std::int64_t out = groups * draw.between(1, 3);
    const std::string sizes = draw.numbers(space, 1, 7).substr(1);
    const std::string rows = draw.coin() ? "[2, " : "[";
    const std::string window = draw.numbers(space, 1, 3).substr(1);
    const std::string x = input("x", rows + std::to_string(in) + ", " + sizes);
    const std::string per_group = std::to_string(in / groups) + ", ";
    const std::string w = input("w", "[" + std::to_string(out) + ", " + per_group + window);
    const std::string t =
        input("w", "[" + std::to_string(in) + ", " + std::to_string(out / groups) + ", " + window);
    const std::string common =
        ", groups=" + std::to_string(groups) + ", dilation=" + draw.numbers(space, 1, 2);
    const std::string numbers =
        ", stride=" + draw.numbers(space, 1, 3) + ", padding=" + draw.numbers(space, 0, 2);
    found.add(x + w, "aten::conv" + d + "(input=%x, weight=%w" + common + numbers + ")");
    found.add(x + w, "aten::conv" + d + ".padding(input=%x, weight=%w" + common + ", padding=\"" +
                         (draw.coin() ? "same" : "valid") + "\")");
    const std::string overload = space == 1 ? "" : ".input";
    found.add(x + t, "aten::conv_transpose" + d + overload + "(input=%x, weight=%w" + common +
                         numbers + ", output_padding=" + draw.numbers(space, 0, 1) + ")");
  });
  CHECK(faults.text == "");
  CHECK(faults.run > 700);
}

TEST_CASE("inference finds the shapes of random pools", "[inference]") {
  const Faults faults = drawn(400, [](Draw& draw, Faults& found) {
    const auto space = static_cast<std::size_t>(draw.between(1, 3));
    const std::string d = std::to_string(space) + "d";
    const std::string rows = draw.coin() ? "[2, 3, " : "[3, ";
    const std::string x = input("x", rows + draw.numbers(space, 1, 8).substr(1));
    const std::string window = "(self=%x, kernel_size=" + draw.numbers(space, 1, 4) +
                               (draw.coin() ? ", stride=" + draw.numbers(space, 1, 4) : "") +
                               ", padding=" + draw.numbers(space, 0, 2) +
                               ", ceil_mode=" + draw.truth();
    found.add(x, "aten::avg_pool" + d + window + ")");
    found.add(x, "aten::max_pool" + d + window + ", dilation=" + draw.numbers(space, 1, 2) + ")");
    found.add(x, "aten::adaptive_avg_pool" + d +
                     "(self=%x, output_size=" + draw.numbers(space, 1, 5) + ")");
  });
  CHECK(faults.text == "");
  CHECK(faults.run > 600);
}

TEST_CASE("inference finds the shapes of random slices and indices", "[inference]") {
  const std::string inputs =
      input("x", "[3, 4, 5]") +
      "  %i : int64[2, 1] = placeholder i\n  %j : int64[3] = placeholder j\n";
  const Faults faults = drawn(500, [&](Draw& draw, Faults& found) {
    const auto slice = [&] {
      const auto bound = [&] { return draw.coin() ? draw.number(-7, 7) : std::string("none"); };
      return "slice(" + bound() + ", " + bound() + ", " +
             (draw.coin() ? draw.number(1, 3) : std::string("none")) + ")";
    };
    std::string index;
    for (std::int64_t left = draw.between(1, 4); left > 0; --left) {
      const std::int64_t kind = draw.between(0, 5);
      const std::string item = kind == 0   ? "none"
                               : kind == 1 ? draw.number(-3, 2)
                               : kind == 2 ? "%i"
                               : kind == 3 ? "%j"
                                           : slice();
      index += (index.empty() ? "" : ", ") + item;
    }
    found.add(inputs, "mase::getitem(value=%x, index=(" + index + "))");
    found.add(inputs, "aten::slice.Tensor(self=%x, dim=" + draw.number(-3, 2) +
                          ", start=" + draw.number(-7, 7) + ", end=" + draw.number(-7, 7) +
                          ", step=" + draw.number(1, 3) + ")");
    found.add(inputs, "aten::split.Tensor(self=%x, split_size=" + draw.number(1, 6) +
                          ", dim=" + draw.number(-3, 2) + ")");
    found.add(inputs, "aten::chunk(self=%x, chunks=" + draw.number(1, 6) +
                          ", dim=" + draw.number(-3, 2) + ")");
    found.add(inputs, "aten::pad(self=%x, pad=" + draw.numbers(4, -2, 3) + ")");
  });
  CHECK(faults.text == "");
  CHECK(faults.run > 1500);
}

TEST_CASE("inference finds the shapes of random reductions and reshapes", "[inference]") {
  const Faults faults = drawn(300, [](Draw& draw, Faults& found) {
    const std::string x = input("x", draw.broadcast_shape());
    const auto dims = static_cast<std::size_t>(draw.between(1, 3));
    const std::string keeps = ", keepdim=" + draw.truth() + ")";
    const std::string several = "(self=%x, dim=" + draw.numbers(dims, -3, 2) + keeps;
    const std::string dim = "(self=%x, dim=" + draw.number(-4, 3);
    for (const char* op : {"aten::mean.dim", "aten::sum.dim_IntList", "aten::amax"})
      found.add(x, op + several);
    for (const char* op : {"aten::max.dim", "aten::argmin", "aten::prod.dim_int"})
      found.add(x, op + dim + keeps);
    for (const char* op : {"aten::squeeze.dim", "aten::unsqueeze", "aten::cumsum"})
      found.add(x, op + dim + ")");
    found.add(x, "aten::flatten.using_ints(self=%x, start_dim=" + draw.number(-3, 2) +
                     ", end_dim=" + draw.number(-3, 2) + ")");
    found.add(x, "aten::view(self=%x, size=" + draw.numbers(dims, -1, 4) + ")");
    found.add(x, "aten::expand(self=%x, size=" + draw.numbers(dims, -1, 3) + ")");
    found.add(x, "aten::repeat(self=%x, repeats=" + draw.numbers(dims, 0, 3) + ")");
    found.add(x, "aten::permute(self=%x, dims=" + draw.numbers(dims, -2, 2) + ")");
    found.add(x, "aten::movedim.int(self=%x, source=" + draw.number(-3, 2) +
                     ", destination=" + draw.number(-3, 2) + ")");
  });
  CHECK(faults.text == "");
  CHECK(faults.run > 1500);
}
