// SPDX-License-Identifier: Apache-2.0
// Windows, words and heads that are joined with the batch, against the reference.
#include <catch2/catch.hpp>

#include "hardware/integer/program.hpp"
#include "sketch.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::test;
using ir::NodeId;
using ir::Value;

namespace {

const Formats grouped_operands{{"data_in", "integer(8, 4)"}, {"weight", "integer(6, 3)"}};

/// The size along `free`, that with the batch, is given as -1.
NodeId view(Sketch& sketch, NodeId x, const Shape& shape, std::size_t free = 0) {
  Shape sizes = shape;
  sizes[free] = -1;
  return sketch.call("aten::view", {{"self", ref(x)}, {"size", list(sizes)}}, shape);
}

NodeId permuted(Sketch& sketch, NodeId x, const Shape& dims) {
  Shape shape;
  for (const std::int64_t dim : dims)
    shape.push_back(sketch.shape(x)[static_cast<std::size_t>(dim)]);
  return sketch.call("aten::permute", {{"self", ref(x)}, {"dims", list(dims)}}, shape);
}

NodeId product(Sketch& sketch, NodeId a, NodeId b, const std::string& second = "other",
               const std::string& op = "aten::matmul") {
  Shape shape = sketch.shape(a);
  shape.back() = sketch.shape(b).back();
  return sketch.call(op, {{"self", ref(a)}, {second, ref(b)}}, shape, grouped_operands);
}

}  // namespace

TEST_CASE("layers on words that are joined with the batch equal the reference") {
  Sketch sketch;
  const NodeId x = sketch.input({2, 3, 5});
  const NodeId words = view(sketch, x, {6, 5});
  const NodeId y = sketch.relu(sketch.linear(words, 4, eight));
  const NodeId z =
      sketch.call("aten::mm", {{"self", ref(y)}, {"mat2", ref(sketch.parameter({4, 7}, 2))}},
                  {6, 7}, grouped_operands);
  check_against_reference(sketch.finish(view(sketch, z, {2, 3, 7})), 6);
}

TEST_CASE("blocks of words that are joined with the batch equal the reference, or are refused") {
  const auto words_in = [](const std::string& format) {
    Sketch sketch;
    const NodeId words =
        view(sketch, sketch.input({2, 3, 6}, {{"data_out", "integer(8, 4)"}}), {6, 6});
    const NodeId y = sketch.linear(
        words, 4, {{"data_in", format}, {"weight", "integer(6, 4)"}, {"bias", "integer(8, 5)"}});
    return sketch.finish(view(sketch, y, {2, 3, 4}));
  };
  check_against_reference(words_in("mxint8(block_size=4, scale_bits=4)"), 6);
  check_against_reference(words_in("block_fp(6, 4, block_size=[1, 4], skip_first_dim=true)"), 6);
  // A block is a word in the model, and has several words of a sample in hardware.
  const ir::Graph graph = words_in("block_fp(6, 4, block_size=[4], skip_first_dim=true)");
  const std::string message = message_of(Fault::unsupported, [&] { integer::lower(graph); });
  CHECK(message.find("lie elsewhere in hardware") != std::string::npos);
}

TEST_CASE("addmm on words that are joined with the batch equals the reference") {
  Sketch sketch;
  const NodeId words = view(sketch, sketch.input({2, 3, 5}), {6, 5});
  Formats formats = grouped_operands;
  formats.push_back({"bias", "integer(8, 6)"});
  const NodeId y = sketch.call("aten::addmm",
                               {{"self", ref(sketch.parameter({7}, 4))},
                                {"mat1", ref(words)},
                                {"mat2", ref(sketch.parameter({5, 7}, 2))}},
                               {6, 7}, formats);
  check_against_reference(sketch.finish(view(sketch, y, {2, 3, 7})), 6);
}

TEST_CASE("attention in windows that are joined with the batch equals the reference") {
  Sketch sketch;
  // [2, 4, 4, 6] in windows of [2, 2], two heads of 3.
  const NodeId x = sketch.input({2, 4, 4, 6}, {{"data_out", "integer(8, 4)"}});
  const NodeId tiles = permuted(sketch, view(sketch, x, {2, 2, 2, 2, 2, 6}), {0, 1, 3, 2, 4, 5});
  const NodeId windows = view(sketch, tiles, {8, 4, 6});
  const NodeId all = sketch.linear(windows, 18, eight);
  const NodeId heads = permuted(sketch, view(sketch, all, {8, 4, 3, 2, 3}), {2, 0, 3, 1, 4});
  std::vector<NodeId> parts;
  for (const std::int64_t i : {0, 1, 2})
    parts.push_back(sketch.call("mase::getitem",
                                {{"value", ref(heads)}, {"index", Value::tuple({Value(i)})}},
                                {8, 2, 4, 3}));
  const NodeId keys =
      sketch.call("aten::transpose.int",
                  {{"self", ref(parts[1])}, {"dim0", Value(-2)}, {"dim1", Value(3)}}, {8, 2, 3, 4});
  const NodeId scores = product(sketch, parts[0], keys);
  const NodeId biased =
      sketch.call("aten::add.Tensor",
                  {{"self", ref(scores)}, {"other", ref(sketch.parameter({1, 2, 4, 4}, 4))}},
                  {8, 2, 4, 4}, {{"data_in", "integer(10, 4)"}});
  // One mask for each window of an image.
  const NodeId apart = view(sketch, biased, {2, 4, 2, 4, 4});
  const NodeId masked =
      sketch.call("aten::add.Tensor",
                  {{"self", ref(apart)}, {"other", ref(sketch.parameter({1, 4, 1, 4, 4}, 9))}},
                  {2, 4, 2, 4, 4}, {{"data_in", "integer(10, 4)"}});
  const NodeId weights = view(sketch, masked, {8, 2, 4, 4});
  const NodeId context = permuted(sketch, product(sketch, weights, parts[2]), {0, 2, 1, 3});
  const NodeId joined = sketch.linear(view(sketch, context, {8, 4, 6}), 6, eight);
  const NodeId back =
      permuted(sketch, view(sketch, joined, {2, 2, 2, 2, 2, 6}), {0, 1, 3, 2, 4, 5});
  check_against_reference(sketch.finish(view(sketch, back, {2, 4, 4, 6})), 6);
}

TEST_CASE("parts, places and joins behind a joined dimension equal the reference") {
  Sketch sketch;
  const NodeId x = sketch.input({2, 3, 4, 6}, {{"data_out", "integer(8, 4)"}});
  const NodeId rows = view(sketch, x, {6, 4, 6});
  ir::ValueInfo halves;
  halves.kind = ir::ValueInfo::Kind::list;
  halves.elements.assign(2, ir::ValueInfo::tensor(DType::float32, {6, 4, 3}));
  const NodeId chunks = sketch.call(
      "aten::chunk", {{"self", ref(rows)}, {"chunks", Value(2)}, {"dim", Value(2)}}, halves);
  std::vector<NodeId> half;
  for (const std::int64_t i : {0, 1})
    half.push_back(
        sketch.call("mase::getitem", {{"value", ref(chunks)}, {"index", Value(i)}}, {6, 4, 3}));
  const NodeId swapped = sketch.call(
      "aten::cat", {{"tensors", Value::list({ref(half[1]), ref(half[0])})}, {"dim", Value(-1)}},
      {6, 4, 6});
  const Value all = Value::slice({}, {}, {});
  const NodeId kept =
      sketch.call("mase::getitem",
                  {{"value", ref(swapped)},
                   {"index", Value::tuple({all, Value::slice(Value(1), Value(3), {}), all})}},
                  {6, 2, 6});
  const NodeId one = sketch.call(
      "aten::select.int", {{"self", ref(kept)}, {"dim", Value(1)}, {"index", Value(-1)}}, {6, 6});
  check_against_reference(sketch.finish(view(sketch, one, {2, 18})), 6);
}

TEST_CASE("batches of heads are multiplied by bmm") {
  Sketch sketch;
  const NodeId x = sketch.input({2, 3, 4, 5}), y = sketch.input({2, 3, 5, 2});
  const NodeId z =
      product(sketch, view(sketch, x, {6, 4, 5}), view(sketch, y, {6, 5, 2}), "mat2", "aten::bmm");
  check_against_reference(sketch.finish(view(sketch, z, {2, 3, 4, 2})), 12);
}

/// x [2, 3, 6] with steps first, as nn.MultiheadAttention has it: [3, 2, 6].
NodeId steps_first(Sketch& sketch, NodeId x) {
  Shape shape = sketch.shape(x);
  std::swap(shape[0], shape[1]);
  return sketch.call("aten::transpose.int",
                     {{"self", ref(x)}, {"dim0", Value(1)}, {"dim1", Value(0)}}, shape);
}

TEST_CASE("attention with steps first equals the reference") {
  Sketch sketch;
  const NodeId x = steps_first(sketch, sketch.input({2, 3, 6}, {{"data_out", "integer(8, 4)"}}));
  const NodeId all = sketch.linear(x, 18, eight);
  const NodeId apart = view(sketch, all, {1, 3, 2, 3, 6}, 2);
  const NodeId parts = view(sketch, permuted(sketch, apart, {3, 1, 2, 0, 4}), {3, 3, 2, 6}, 2);
  std::vector<NodeId> heads;  // two of three elements each, joined with the batch: [4, 3, 3]
  for (const std::int64_t i : {0, 1, 2}) {
    const NodeId part = sketch.call(
        "mase::getitem", {{"value", ref(parts)}, {"index", Value::tuple({Value(i)})}}, {3, 2, 6});
    heads.push_back(steps_first(sketch, view(sketch, part, {3, 4, 3}, 1)));
  }
  const NodeId scores =
      product(sketch, heads[0], permuted(sketch, heads[1], {0, 2, 1}), "mat2", "aten::bmm");
  const NodeId context = product(sketch, scores, heads[2], "mat2", "aten::bmm");
  const NodeId rows = view(sketch, steps_first(sketch, context), {6, 6});  // [steps * batch, 6]
  const NodeId y = view(sketch, sketch.linear(rows, 6, eight), {3, 2, 6}, 1);
  check_against_reference(sketch.finish(steps_first(sketch, y)), 6);
}

TEST_CASE("streams whose dimensions stand in the opposite order equal the reference") {
  Sketch sketch;
  const NodeId x = sketch.input({2, 3, 6}, {{"data_out", "integer(8, 4)"}});
  const NodeId turned = sketch.call("aten::numpy_T", {{"self", ref(x)}}, {6, 3, 2});
  const NodeId y = sketch.relu(turned, {{"data_in", "integer(6, 3)"}});
  const NodeId back = sketch.call("aten::numpy_T", {{"self", ref(y)}}, {2, 3, 6});
  check_against_reference(sketch.finish(sketch.linear(back, 4, eight)), 12);
  Sketch matrices;  // of the steps, whose batch is in the middle
  const NodeId steps =
      steps_first(matrices, matrices.input({2, 3, 6}, {{"data_out", "integer(8, 4)"}}));
  const NodeId last = matrices.call("aten::mT", {{"self", ref(steps)}}, {3, 6, 2});
  const NodeId first =
      matrices.call("aten::permute", {{"self", ref(last)}, {"dims", list({2, 0, 1})}}, {2, 3, 6});
  check_against_reference(matrices.finish(matrices.linear(first, 4, eight)), 12);
}

TEST_CASE("positions, means and parts with steps first equal the reference") {
  Sketch sketch;
  const NodeId x = steps_first(sketch, sketch.input({2, 3, 6}, {{"data_out", "integer(8, 4)"}}));
  const NodeId placed = sketch.call(
      "aten::add.Tensor", {{"self", ref(x)}, {"other", ref(sketch.parameter({3, 1, 6}, 4))}},
      {3, 2, 6}, {{"data_in", "integer(8, 4)"}});
  const NodeId twice = sketch.call(
      "aten::cat", {{"tensors", Value::list({ref(placed), ref(x)})}, {"dim", Value(0)}}, {6, 2, 6});
  const Value all = Value::slice({}, {}, {});
  const NodeId some = sketch.call(
      "mase::getitem",
      {{"value", ref(twice)}, {"index", Value::tuple({Value::slice(Value(1), Value(5), {}), all})}},
      {4, 2, 6});
  const NodeId last = sketch.call(
      "aten::select.int", {{"self", ref(some)}, {"dim", Value(0)}, {"index", Value(-1)}}, {2, 6});
  const NodeId mean =
      sketch.call("aten::mean.dim", {{"self", ref(some)}, {"dim", list({0})}}, {2, 6},
                  {{"data_in", "integer(8, 4)"}, {"data_out", "integer(8, 6)"}});
  check_against_reference(
      sketch.finish(sketch.call("aten::add.Tensor", {{"self", ref(last)}, {"other", ref(mean)}},
                                {2, 6}, {{"data_in", "integer(8, 4)"}})),
      6);
}

TEST_CASE("what works along a joined dimension, or has no rule, is refused by name") {
  const auto says = [](Sketch& sketch, NodeId result, const std::string& words) {
    CHECK_THROWS_WITH(integer::lower(sketch.finish(result)), Catch::Contains(words));
  };
  Sketch along;
  const NodeId x = view(along, along.input({2, 3, 5}, {{"data_out", "integer(8, 4)"}}), {6, 5});
  says(along,
       along.call("aten::softmax.int", {{"self", ref(x)}, {"dim", Value(0)}}, {6, 5},
                  {{"data_out", "integer(8, 7)"}}),
       "along a dimension that is joined");
  Sketch without;
  const NodeId y =
      view(without, without.input({2, 3, 4, 5}, {{"data_out", "integer(8, 4)"}}), {6, 4, 5});
  says(without,
       without.call("aten::avg_pool1d", {{"self", ref(y)}, {"kernel_size", Value(5)}}, {6, 4, 1}),
       "reads a dimension that is joined");
  Sketch result;
  const NodeId z = view(result, result.input({2, 3, 5}, {{"data_out", "integer(8, 4)"}}), {6, 5});
  says(result, z, "mixes rows of the batch with another dimension");
}
