// SPDX-License-Identifier: Apache-2.0
// Token ids that choose rows of a table.
#include <catch2/catch.hpp>

#include "hardware/integer/interpreter.hpp"
#include "sketch.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::test;
using ir::Value;

namespace {

ir::NodeId ids(Sketch& sketch, const Shape& shape) {
  const ir::NodeId id = sketch.input(shape);
  sketch.graph.node(id).info.dtype = DType::int64;
  return id;
}

ir::NodeId embedding(Sketch& sketch, ir::NodeId of, std::int64_t rows, std::int64_t columns,
                     const Formats& formats) {
  Shape shape = sketch.shape(of);
  shape.push_back(columns);
  const ir::NodeId table = sketch.parameter({rows, columns}, 3);
  return sketch.call("aten::embedding", {{"weight", ref(table)}, {"indices", ref(of)}}, shape,
                     formats);
}

}  // namespace

TEST_CASE("rows of a table equal the reference, on each grid that they may have") {
  const std::string fine = "integer(9, 6)", coarse = "integer(5, 1)";
  for (const Formats& formats : {Formats{{"weight", fine}}, Formats{{"data_out", coarse}},
                                 Formats{{"weight", fine}, {"data_out", coarse}},
                                 Formats{{"weight", coarse}, {"data_out", fine}}})
    for (const std::int64_t rows : {1, 2, 5, 16, 17}) {
      INFO(rows << " rows");
      Sketch sketch;
      const auto x = ids(sketch, {2, 3, 4});
      const ir::Graph graph = sketch.finish(embedding(sketch, x, rows, 6, formats));
      check_against_reference(graph, 20);
      const integer::Program program = integer::lower(graph);
      CHECK(program.steps.size() == 1);
      const integer::FixedType& type = program.value(program.inputs[0]).type;
      CHECK((std::int64_t{1} << type.width) >= rows);
      CHECK_FALSE(type.is_signed);
    }
}

TEST_CASE("ids of two tables have the bits of the larger one") {
  Sketch sketch;
  const auto x = ids(sketch, {2, 5});
  const auto a = embedding(sketch, x, 5, 4, {{"weight", "integer(8, 5)"}});
  const auto b = embedding(sketch, x, 40, 4, {{"weight", "integer(8, 5)"}});
  const auto y = sketch.call("aten::add.Tensor", {{"self", ref(a)}, {"other", ref(b)}}, {2, 5, 4});
  const ir::Graph graph = sketch.finish(y);
  CHECK(integer::lower(graph).values[0].type.width == 6);
  check_against_reference(graph, 50);
}

TEST_CASE("a number beyond a table is refused with the table's name, also behind a view") {
  Sketch sketch;
  const auto x = ids(sketch, {2, 4});
  const auto columns = sketch.call(
      "aten::transpose.int",
      {{"self",
        ref(sketch.call("aten::unsqueeze", {{"self", ref(x)}, {"dim", Value(1)}}, {2, 1, 4}))},
       {"dim0", Value(1)},
       {"dim1", Value(2)}},
      {2, 4, 1});
  for (const ir::NodeId id : sketch.graph.order())
    if (id != x) sketch.graph.node(id).info.dtype = DType::int64;
  const ir::Graph graph =
      sketch.finish(embedding(sketch, columns, 5, 3, {{"weight", "integer(8, 5)"}}));
  const auto run = [&](std::int64_t number) {
    const Array batch = Array::from<std::int64_t>({0, 1, number, 4, 4, 3, 2, 1}, {2, 4});
    return integer::make_evaluator(graph)->run({batch});
  };
  CHECK(run(4).size() == 1);
  for (const std::int64_t number : {-1, 5, 7, 1000})
    CHECK_THAT(message_of(Fault::file, [&] { run(number); }),
               Catch::Contains("has the number " + std::to_string(number)) &&
                   Catch::Contains("rows 0 to 4"));
}

TEST_CASE("a number beyond a table is refused behind a join of several inputs") {
  Sketch sketch;
  const auto a = ids(sketch, {2, 2}), b = ids(sketch, {2, 1});
  const auto joined =
      sketch.call("aten::cat", {{"tensors", Value::list({ref(a), ref(b)})}, {"dim", Value(1)}},
                  ir::ValueInfo::tensor(DType::int64, {2, 3}));
  const auto evaluator = integer::make_evaluator(
      sketch.finish(embedding(sketch, joined, 5, 3, {{"weight", "integer(8, 5)"}})));
  const auto run = [&](std::int64_t first, std::int64_t second) {
    return evaluator->run({Array::from<std::int64_t>({0, first, 4, 4}, {2, 2}),
                           Array::from<std::int64_t>({second, 3}, {2, 1})});
  };
  CHECK(run(4, 4).size() == 1);
  CHECK_THAT(message_of(Fault::file, [&] { run(5, 4); }), Catch::Contains("has the number 5"));
  CHECK_THAT(message_of(Fault::file, [&] { run(4, 6); }), Catch::Contains("has the number 6"));
}

TEST_CASE("positions that are counted from the ids that are no padding choose rows") {
  Sketch sketch;  // as RoBERTa: cumsum(ids != 1) * (ids != 1) + 1
  const auto x = ids(sketch, {2, 5});
  const auto whole = [&](const std::string& op, std::vector<ir::Argument> arguments) {
    return sketch.call(op, std::move(arguments), ir::ValueInfo::tensor(DType::int64, {2, 5}));
  };
  const auto real = sketch.call("aten::ne.Scalar", {{"self", ref(x)}, {"other", Value(1)}},
                                ir::ValueInfo::tensor(DType::boolean, {2, 5}));
  const auto ones = whole("aten::to.dtype", {{"self", ref(real)}});
  const auto counted = whole("aten::cumsum", {{"self", ref(ones)}, {"dim", Value(1)}});
  const auto product = whole("aten::mul.Tensor", {{"self", ref(counted)}, {"other", ref(ones)}});
  const auto places = whole("aten::add.Scalar", {{"self", ref(product)}, {"other", Value(1)}});
  const auto table = sketch.constants({0, 10, 20, 30, 40, 50, 60}, {7, 1});
  const auto y = sketch.call("aten::embedding", {{"weight", ref(table)}, {"indices", ref(places)}},
                             {2, 5, 1}, {{"weight", "integer(8, 0)"}});
  const auto evaluator = integer::make_evaluator(sketch.finish(y));
  const ir::Results results =
      evaluator->run({Array::from<std::int64_t>({5, 9, 1, 1, 7, 1, 1, 4, 0, 3}, {2, 5})});
  const std::vector<float> expected{20, 30, 10, 10, 40, 10, 10, 20, 30, 40};
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(results.front().second.span<float>()[i] == expected[i]);
}

TEST_CASE("what embeddings cannot read is refused with what would do") {
  Sketch floats;
  const auto x = floats.input({2, 5}, {{"data_out", "integer(8, 4)"}});
  CHECK_THROWS_WITH(
      integer::lower(floats.finish(embedding(floats, x, 5, 4, {{"weight", "integer(8, 5)"}}))),
      Catch::Contains("not the integers of an int64 input"));
  Sketch loose;
  const auto y = ids(loose, {2, 5});
  const auto z = loose.relu(loose.call("aten::to.dtype", {{"self", ref(y)}}, {2, 5}));
  CHECK_THROWS_WITH(integer::lower(loose.finish(z)), Catch::Contains("it has no codes"));
  Sketch large;
  const auto w = ids(large, {2, 1});
  CHECK_THROWS_WITH(integer::lower(large.finish(embedding(large, w, std::int64_t{1} << 22, 5,
                                                          {{"weight", "integer(8, 5)"}}))),
                    Catch::Contains("20971520 elements") && Catch::Contains("pass extract"));
}

TEST_CASE("masks of whole numbers are read as numbers") {
  Sketch sketch;
  const auto x = ids(sketch, {2, 6});
  const auto number = sketch.call("aten::to.dtype", {{"self", ref(x)}}, {2, 6});
  const auto y = sketch.call("aten::rsub.Scalar", {{"self", ref(number)}, {"other", Value(1.0)}},
                             {2, 6}, {{"data_in", "integer(2, 0)"}});
  const auto z = sketch.call("aten::mul.Scalar", {{"self", ref(y)}, {"other", Value(-3.4e38)}},
                             {2, 6}, {{"data_in", "integer(2, 0)"}, {"data_out", "integer(8, 4)"}});
  check_against_reference(sketch.finish(z), 3);
}
