// SPDX-License-Identifier: Apache-2.0
// Matrix products against the reference, and what they cost: the order of a kept operand is an
// address, a constant one is the weight of a linear layer.
#include <algorithm>
#include <catch2/catch.hpp>

#include "hardware/integer/interpreter.hpp"
#include "hardware/integer/program.hpp"
#include "sketch.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::test;
using ir::NodeId;
using ir::Value;

namespace {

const Formats operands{{"data_in", "integer(8, 4)"}, {"weight", "integer(6, 3)"}};

NodeId product(Sketch& sketch, NodeId a, NodeId b, const Shape& shape,
               const Formats& own = operands) {
  return sketch.call("aten::matmul", {{"self", ref(a)}, {"other", ref(b)}}, shape, own);
}

NodeId swapped(Sketch& sketch, NodeId x, std::int64_t a, std::int64_t b) {
  Shape shape = sketch.shape(x);
  std::swap(shape[static_cast<std::size_t>(a)], shape[static_cast<std::size_t>(b)]);
  return sketch.call("aten::transpose.int",
                     {{"self", ref(x)}, {"dim0", Value(a)}, {"dim1", Value(b)}}, shape);
}

/// [2, length, heads * size] of a linear layer as [2, heads, length, size].
NodeId heads_of(Sketch& sketch, NodeId x, std::int64_t heads, std::int64_t size) {
  const std::int64_t length = sketch.shape(x)[1];
  const NodeId all = sketch.linear(x, heads * size, eight);
  const NodeId split =
      sketch.call("aten::view", {{"self", ref(all)}, {"size", list({2, length, heads, size})}},
                  {2, length, heads, size});
  return swapped(sketch, split, 1, 2);
}

bool has_gather(const ir::Graph& graph) {
  for (const integer::Step& step : integer::lower(graph).steps)
    if (std::holds_alternative<integer::Gather>(step.operation)) return true;
  return false;
}

}  // namespace

TEST_CASE("products of matrices equal the reference, whatever their formats") {
  for (const std::string a : {"integer(8, 4)", "integer(3, 1, is_signed=false)"})
    for (const std::string b :
         {"integer(8, 4)", "integer(12, -2)", "integer(1, 0, is_signed=false)"})
      for (const std::string out : {"", "integer(8, 2)", "integer_floor(6, 0)"}) {
        INFO(a << " " << b << " " << out);
        Sketch sketch;
        const NodeId x = sketch.input({2, 5, 7}), y = sketch.input({2, 7, 3});
        Formats own{{"data_in", a}, {"weight", b}};
        if (!out.empty()) own.push_back({"data_out", out});
        check_against_reference(sketch.finish(product(sketch, x, y, {2, 5, 3}, own)), 12);
      }
}

TEST_CASE("attention's products equal the reference and move nothing") {
  Sketch sketch;
  const NodeId x = sketch.input({2, 5, 6}, {{"data_out", "integer(8, 4)"}});
  const NodeId q = heads_of(sketch, x, 3, 4), k = heads_of(sketch, x, 3, 4),
               v = heads_of(sketch, x, 3, 4);
  const NodeId scores = product(sketch, q, swapped(sketch, k, 2, 3), {2, 3, 5, 5});
  const NodeId context = swapped(sketch, product(sketch, scores, v, {2, 3, 5, 4}), 1, 2);
  const NodeId joined = sketch.call(
      "aten::reshape", {{"self", ref(context)}, {"shape", list({2, 5, 12})}}, {2, 5, 12});
  const ir::Graph graph = sketch.finish(sketch.linear(joined, 6, eight));
  check_against_reference(graph, 4);
  CHECK_FALSE(has_gather(graph));
}

TEST_CASE("products that broadcast equal the reference") {
  const auto check = [](const Shape& a, const Shape& b, const Shape& shape) {
    INFO(shape_text(a) << " " << shape_text(b));
    Sketch sketch;
    const NodeId x = sketch.input(a), y = sketch.input(b);
    check_against_reference(sketch.finish(product(sketch, x, y, shape)), 12);
  };
  check({2, 1, 3, 4}, {2, 5, 4, 2}, {2, 5, 3, 2});
  check({2, 5, 3, 4}, {2, 1, 4, 2}, {2, 5, 3, 2});
  check({2, 1, 3, 4}, {2, 1, 4, 2}, {2, 1, 3, 2});
  check({2, 2, 1, 3, 4}, {2, 1, 5, 4, 2}, {2, 2, 5, 3, 2});
  check({2, 1, 1}, {2, 1, 1}, {2, 1, 1});
  check({2, 4, 1}, {2, 1, 6}, {2, 4, 6});
  check({2, 1, 6}, {2, 6, 1}, {2, 1, 1});
}

TEST_CASE("operands in any order of their dimensions equal the reference") {
  const std::vector<Shape> orders{{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3},
                                  {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1}};
  for (const Shape& a : orders)
    for (const Shape& b : orders) {
      INFO(shape_text(a) << " " << shape_text(b));
      Sketch sketch;
      // An input whose dimensions, so permuted, are those of the operand.
      const auto operand = [&](const Shape& order, const Shape& wanted) {
        Shape shape(4);
        for (std::size_t d = 0; d < 4; ++d) shape[static_cast<std::size_t>(order[d])] = wanted[d];
        return sketch.call("aten::permute",
                           {{"self", ref(sketch.input(shape))}, {"dims", list(order)}}, wanted);
      };
      const NodeId x = operand(a, {2, 3, 5, 4}), y = operand(b, {2, 3, 4, 2});
      check_against_reference(sketch.finish(product(sketch, x, y, {2, 3, 5, 2})), 12);
    }
}

TEST_CASE("products of batches equal the reference") {
  Sketch sketch;
  const NodeId x = sketch.input({2, 3, 4}), y = sketch.input({2, 4, 5});
  const NodeId z =
      sketch.call("aten::bmm", {{"self", ref(x)}, {"mat2", ref(y)}}, {2, 3, 5}, operands);
  check_against_reference(sketch.finish(z), 12);
}

namespace {

/// Whether the graph is one linear layer and nothing else.
bool is_linear(const ir::Graph& graph) {
  const integer::Program program = integer::lower(graph);
  return program.steps.size() == 1 &&
         std::holds_alternative<integer::Linear>(program.steps[0].operation);
}

}  // namespace

TEST_CASE("a constant operand is the weight of a linear layer") {
  const auto behind = [](const Shape& a, const Shape& b, const Shape& shape) {
    INFO(shape_text(a) << " " << shape_text(b));
    Sketch sketch;
    const NodeId x = sketch.input(a), w = sketch.parameter(b, 2);
    const ir::Graph graph = sketch.finish(product(sketch, x, w, shape));
    CHECK(is_linear(graph));
    check_against_reference(graph, 12);
  };
  behind({2, 5}, {5, 3}, {2, 3});
  behind({2, 5}, {5}, {2});
  behind({2, 4, 5}, {5, 3}, {2, 4, 3});
  behind({2, 4, 5}, {5}, {2, 4});
  behind({2, 4, 5}, {1, 5, 3}, {2, 4, 3});
  behind({2, 3, 4, 5}, {5, 1}, {2, 3, 4, 1});
  behind({2, 3, 4, 5}, {1, 1, 5, 2}, {2, 3, 4, 2});
}

TEST_CASE("addmm with constants is a linear layer with a bias") {
  const Formats formats{
      {"data_in", "integer(8, 4)"}, {"weight", "integer(6, 3)"}, {"bias", "integer(8, 6)"}};
  const auto added = [&](std::vector<ir::Argument> factors, bool streamed) {
    Sketch sketch;
    const NodeId x = sketch.input({2, 5});
    const NodeId bias = streamed ? sketch.input({2, 3}) : sketch.parameter({3}, 4);
    std::vector<ir::Argument> args{
        {"self", ref(bias)}, {"mat1", ref(x)}, {"mat2", ref(sketch.parameter({5, 3}, 2))}};
    args.insert(args.end(), factors.begin(), factors.end());
    return sketch.finish(sketch.call("aten::addmm", args, {2, 3}, formats));
  };
  const ir::Graph graph = added({{"beta", Value(1)}, {"alpha", Value(1)}}, false);
  CHECK(is_linear(graph));
  CHECK_FALSE(std::get<integer::Linear>(integer::lower(graph).steps[0].operation).bias.empty());
  check_against_reference(graph, 12);
  const auto refused = [](const ir::Graph& other) {
    return message_of(Fault::unsupported, [&] { integer::lower(other); });
  };
  CHECK_THAT(refused(added({{"beta", Value(2)}}, false)),
             Catch::Contains("it multiplies what it adds"));
  CHECK_THAT(refused(added({}, true)), Catch::Contains("torch.matmul and a sum"));
}

TEST_CASE("addmm and baddbmm of streams are a product and a sum, rounded once") {
  for (const double alpha : {1.0, 0.25}) {
    Sketch sketch;
    const NodeId bias = sketch.input({2, 4, 3}), x = sketch.input({2, 4, 5});
    const NodeId y = sketch.input({2, 5, 3});
    const std::vector<ir::Argument> args{{"self", ref(bias)},
                                         {"batch1", ref(x)},
                                         {"batch2", ref(y)},
                                         {"beta", Value(1)},
                                         {"alpha", Value(alpha)}};
    const Formats formats{{"data_in", "integer(8, 4)"},
                          {"weight", "integer(6, 3)"},
                          {"bias", "integer(8, 6)"},
                          {"data_out", "integer(9, 2)"}};
    check_against_reference(sketch.finish(sketch.call("aten::baddbmm", args, {2, 4, 3}, formats)),
                            12);
  }
}

TEST_CASE("a constant that is transposed on the way is the weight of a linear layer") {
  const auto behind = [](const std::string& op, std::vector<ir::Argument> args, const Shape& w) {
    INFO(op);
    Sketch sketch;
    const NodeId x = sketch.input({2, 4, 5});
    args.insert(args.begin(), {"self", ref(sketch.parameter(w, 2))});
    const NodeId turned = sketch.call(op, std::move(args), {5, 3});
    const ir::Graph graph = sketch.finish(product(sketch, x, turned, {2, 4, 3}));
    CHECK(is_linear(graph));
    check_against_reference(graph, 12);
  };
  behind("aten::t", {}, {3, 5});
  behind("aten::mT", {}, {3, 5});
  behind("aten::numpy_T", {}, {3, 5});
  behind("aten::transpose.int", {{"dim0", Value(-1)}, {"dim1", Value(0)}}, {3, 5});
  behind("aten::permute", {{"dims", list({1, 0})}}, {3, 5});
  behind("aten::permute", {{"dims", list({0, 1})}}, {5, 3});

  Sketch twice;
  const NodeId x = twice.input({2, 3, 4}), w = twice.parameter({4, 1, 5}, 2);
  const NodeId turned =
      twice.call("aten::permute", {{"self", ref(w)}, {"dims", list({1, 2, 0})}}, {1, 5, 4});
  const NodeId back = swapped(twice, turned, 1, 2);
  check_against_reference(twice.finish(product(twice, x, back, {2, 3, 5})), 12);
}

TEST_CASE("a constant in front of a stream multiplies its columns") {
  const auto in_front = [](const Shape& a, const Shape& b, const Shape& shape) {
    INFO(shape_text(a) << " " << shape_text(b));
    Sketch sketch;
    const NodeId w = sketch.parameter(a, 8), x = sketch.input(b);
    check_against_reference(sketch.finish(product(sketch, w, x, shape)), 12);
  };
  in_front({3, 5}, {2, 5, 4}, {2, 3, 4});
  in_front({5}, {2, 5, 4}, {2, 4});
  in_front({1, 3, 5}, {2, 5, 4}, {2, 3, 4});
  in_front({3, 5}, {2, 2, 5, 4}, {2, 2, 3, 4});
}

TEST_CASE("mm with a constant equals the reference, and streams in another order stay so") {
  Sketch sketch;
  const NodeId x = sketch.input({2, 5}), w = sketch.parameter({5, 3}, 2);
  const ir::Graph graph = sketch.finish(
      sketch.call("aten::mm", {{"self", ref(x)}, {"mat2", ref(w)}}, {2, 3}, operands));
  CHECK(is_linear(graph));
  check_against_reference(graph, 12);

  Sketch other;
  const NodeId y = swapped(other, other.input({2, 6, 4}), 1, 2);
  check_against_reference(other.finish(product(other, y, other.parameter({6, 3}, 2), {2, 4, 3})),
                          12);

  Sketch third;
  const NodeId z = third.call("aten::mT", {{"self", ref(third.input({2, 6, 4}))}}, {2, 4, 6});
  check_against_reference(third.finish(product(third, z, third.parameter({6, 3}, 2), {2, 4, 3})),
                          12);
}

TEST_CASE("constants of several matrices each multiply their own rows") {
  const auto behind = [](const Shape& a, const Shape& b, const Shape& shape) {
    INFO(shape_text(a) << " " << shape_text(b));
    Sketch sketch;
    const NodeId x = sketch.input(a), w = sketch.parameter(b, 2);
    check_against_reference(sketch.finish(product(sketch, x, w, shape)), 12);
  };
  behind({2, 3, 4, 5}, {3, 5, 2}, {2, 3, 4, 2});
  behind({2, 3, 4, 5}, {1, 3, 5, 2}, {2, 3, 4, 2});
  behind({2, 2, 3, 4, 5}, {3, 5, 2}, {2, 2, 3, 4, 2});
  behind({2, 2, 3, 4, 5}, {2, 1, 5, 2}, {2, 2, 3, 4, 2});
  behind({2, 3, 1, 5}, {3, 5, 1}, {2, 3, 1, 1});
  Sketch front;
  const NodeId w = front.parameter({3, 6, 5}, 8), x = front.input({2, 3, 5, 4});
  check_against_reference(front.finish(product(front, w, x, {2, 3, 6, 4})), 12);
  Sketch heads;
  const NodeId q = heads_of(heads, heads.input({2, 6, 4}), 3, 5);
  const ir::Graph graph =
      heads.finish(product(heads, q, heads.parameter({3, 5, 2}, 2), {2, 3, 6, 2}));
  CHECK_FALSE(has_gather(graph));
  check_against_reference(graph, 12);
}

TEST_CASE("constants that do not fit, and columns of the batch, are refused") {
  const auto says = [](Sketch& sketch, NodeId result, const std::string& words) {
    const ir::Graph graph = sketch.finish(result);
    const std::string message = message_of(Fault::unsupported, [&] { integer::lower(graph); });
    INFO(message);
    CHECK(message.find(words) != std::string::npos);
  };
  Sketch several;
  const NodeId x = several.input({2, 1, 4, 5}), w = several.parameter({3, 5, 2}, 2);
  says(several, product(several, x, w, {2, 3, 4, 2}), "do not stretch to [1] of its stream");
  Sketch columns;
  const NodeId a = columns.parameter({3, 2}, 2), b = columns.input({2, 5});
  says(columns, product(columns, a, b, {3, 5}), "columns of the batch; swap its operands");
}

TEST_CASE("sums of 126 bits are rounded exactly for each reader") {
  Sketch sketch;
  const Shape left{1, 2, 4}, right{1, 4, 1}, result{1, 2, 1};
  const Formats codes{{"data_out", "integer(31, 4)"}};
  const auto input = [&](const Shape& shape) { return sketch.input(shape, codes); };
  const auto call = [&](const std::string& op, ir::NodeId a, ir::NodeId b, const Shape& shape) {
    return sketch.call(op, {{"self", ref(a)}, {"other", ref(b)}}, shape);
  };
  const auto x = input(left), y = input(left), u = input(right), v = input(right);
  const auto p = call("aten::mul.Tensor", x, y, left), q = call("aten::mul.Tensor", u, v, right);
  const auto sums = call("aten::matmul", p, q, result);
  const auto a = sketch.relu(sums, {{"data_in", "integer(8, -105)"}});
  const auto b = sketch.relu(sums, {{"data_in", "integer(9, -101)"}});
  const integer::Program program =
      integer::lower(sketch.finish(call("aten::add.Tensor", a, b, result)));
  CHECK(std::ranges::any_of(
      program.values, [](const integer::StreamValue& value) { return value.type.width == 126; }));

  // In units of 2^-16 the sum of row 0 is 3 * 2^120 - 2^90, that of row 1 2^120 + 2^90. The first
  // reader's place is 2^121: 1.5 and 0.5 places, which the 2^90 bring to 1 each, where ties would
  // give 2 and 0. They are 24 and 8 places of the second reader's, 2^117, a 16th of the first
  // one's.
  constexpr std::int64_t least = -(std::int64_t{1} << 30);
  const integer::Codes first{1, least, least, least, -1, least, 0, 0};
  const integer::Codes all(8, least), column(4, least);
  const auto out = integer::Interpreter(program).run({first, all, column, column}, 1).at(0);
  CHECK(out == integer::Codes{16 + 24, 16 + 8});
}
