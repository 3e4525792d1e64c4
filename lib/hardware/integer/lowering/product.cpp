// SPDX-License-Identifier: Apache-2.0
// Lowering of matrix products: matmul, mm, bmm, addmm and baddbmm. Where both are streams, the
// matrices of the second are kept whole; where they lie in its frame is an address, so that
// transposing them costs nothing. Where one operand is a constant, the product is a linear layer
// with it as the weight, or with several matrices a convolution in groups.
#include <algorithm>
#include <numeric>

#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/matrix.hpp"
#include "hardware/integer/lowering/movement.hpp"
#include "hardware/integer/lowering/window.hpp"

namespace mase::integer {
namespace {

using Index = std::int64_t;

/// The sizes of [batch..., rows, inputs] x [batch..., inputs, outputs].
struct Sizes {
  Shape batch;  ///< of the result
  Index rows = 1, inputs = 1, outputs = 1;

  Shape left() const { return with(rows, inputs); }
  Shape right() const { return with(inputs, outputs); }

 private:
  Shape with(Index a, Index b) const {
    Shape shape = batch;
    shape.insert(shape.end(), {a, b});
    return shape;
  }
};

Sizes sizes_of(const Call& call, const Shape& a, const Shape& b) {
  const Shape result = call.frame_shape();
  if (a.size() < 2 || a.size() != b.size() || result.size() != a.size())
    throw Refusal{
        "its operands " + shape_text(a) + " and " + shape_text(b) +
        " of a frame are not matrices with as many dimensions as each other, so that it mixes rows "
        "of the batch; reshape one of them"};
  const std::size_t rank = a.size();
  return {Shape(result.begin(), result.end() - 2), a[rank - 2], a[rank - 1], b[rank - 1]};
}

/// Which matrix every row of a stream is multiplied by.
struct Sets {
  std::vector<Index> matrices;  ///< of the sets, in the order in which rows need them
  Index repeat = 1;             ///< rows that follow each other with the same set
};

/// None when the sets do not follow each other over and over.
std::optional<Sets> sets_of(const std::vector<Index>& needed) {
  Sets sets;
  const auto other = std::ranges::find_if(needed, [&](Index m) { return m != needed.front(); });
  sets.repeat = other - needed.begin();
  for (std::size_t row = 0; row < needed.size(); row += at(sets.repeat)) {
    if (std::ranges::find(sets.matrices, needed[row]) != sets.matrices.end()) break;
    sets.matrices.push_back(needed[row]);
  }
  const auto period = static_cast<Index>(sets.matrices.size()) * sets.repeat;
  for (std::size_t row = 0; row < needed.size(); ++row)
    if (needed[row] != sets.matrices[row % at(period) / at(sets.repeat)]) return std::nullopt;
  if (static_cast<Index>(needed.size()) % period != 0) return std::nullopt;
  return sets;
}

/// The rows of the first operand and what they are multiplied by.
struct Left {
  Rows rows;
  Sets sets;
};

std::optional<Left> left_of(const StreamView& a, Index matrix_rows, bool one_matrix) {
  auto rows = rows_of(a.layout);
  if (!rows) return std::nullopt;
  std::vector<Index> needed;
  for (const Index row : rows->rows) needed.push_back(one_matrix ? 0 : row / matrix_rows);
  auto sets = sets_of(needed);
  if (!sets) return std::nullopt;
  return Left{std::move(*rows), std::move(*sets)};
}

/// In torch's order there always is one.
Left left_for(const Call& call, StreamView& a, Index matrix_rows, bool one_matrix) {
  if (auto left = left_of(a, matrix_rows, one_matrix)) return *left;
  a = call.lowering.reordered(a, row_major(a.layout.torch_shape), call.node, "data_in");
  return *left_of(a, matrix_rows, one_matrix);
}

/// The torch element of the second operand that is factor `input` of output `output` of a set.
Index element(const Left& left, const Sizes& sizes, Index set, Index output, Index input) {
  return (left.sets.matrices[at(set)] * sizes.inputs + left.rows.columns[at(input)]) *
             sizes.outputs +
         output;
}

template <class F>
void for_each_factor(const Matmul& product, F&& f) {
  for (Index set = 0; set < product.sets; ++set)
    for (Index output = 0; output < product.outputs; ++output)
      for (Index input = 0; input < product.inputs; ++input) f(set, output, input);
}

/// Finds the steps with which the second operand lies in its stream; whether there are such, with
/// inputs or outputs innermost.
bool find_steps(Matmul& product, const Left& left, const Sizes& sizes, const Layout& b) {
  const std::vector<Index> places = places_of(b);
  const auto place = [&](Index set, Index output, Index input) {
    return places[at(element(left, sizes, set, output, input))];
  };
  const Index first = place(0, 0, 0);
  product.input_step = product.inputs > 1 ? place(0, 0, 1) - first : 0;
  product.output_step = product.outputs > 1 ? place(0, 1, 0) - first : 0;
  product.set_step = product.sets > 1 ? place(1, 0, 0) - first : 0;
  const bool innermost =
      product.input_step == 1 || product.output_step == 1 || product.inputs * product.outputs == 1;
  bool fits = innermost;
  for_each_factor(product, [&](Index set, Index output, Index input) {
    fits = fits && place(set, output, input) == product.place(set, output, input);
  });
  return fits;
}

/// Brings the second operand into an order that the product can address.
void place_matrices(const Call& call, Matmul& product, const Left& left, const Sizes& sizes,
                    StreamView& b) {
  if (find_steps(product, left, sizes, b.layout)) return;
  Layout wanted{{product.sets, product.outputs, product.inputs}, b.layout.torch_shape, {}};
  for_each_factor(product, [&](Index set, Index output, Index input) {
    wanted.order.push_back(element(left, sizes, set, output, input));
  });
  b = call.lowering.reordered(b, wanted, call.node, "weight");
  find_steps(product, left, sizes, b.layout);
}

Accumulator accumulator_of(const FixedType& a, const FixedType& b, Index terms) {
  check_sum(interval_of(a), interval_of(b), terms);
  const Interval one = hull(product(interval_of(a), interval_of(b)), {});
  return {{one.low * terms, one.high * terms}, a.frac + b.frac};
}

/// A product of two streams, as a step to append.
struct StreamProduct {
  Matmul operation;
  std::vector<ValueId> inputs;
  Accumulator accumulator;
  Layout layout;
};

StreamProduct product_of(const Call& call, StreamView a, StreamView b) {
  const Sizes sizes = sizes_of(call, a.layout.torch_shape, b.layout.torch_shape);
  const bool one_matrix = numel(b.layout.torch_shape) == sizes.inputs * sizes.outputs;
  a = repeated(call, a, sizes.left(), "data_in");
  if (!one_matrix) b = repeated(call, b, sizes.right(), "weight");
  const Left left = left_for(call, a, sizes.rows, one_matrix);
  Matmul product{.inputs = sizes.inputs,
                 .outputs = sizes.outputs,
                 .sets = static_cast<Index>(left.sets.matrices.size()),
                 .repeat = left.sets.repeat};
  place_matrices(call, product, left, sizes, b);
  const auto& values = call.lowering;
  return {product,
          {a.id, b.id},
          accumulator_of(values.value(a.id).type, values.value(b.id).type, sizes.inputs),
          product_layout(a.layout, left.rows, sizes.outputs)};
}

Operand lower_product(const Call& call, const StreamView& a, const StreamView& b) {
  StreamProduct product = product_of(call, a, b);
  return call.lowering.emit(call.node, product.operation, product.inputs, product.accumulator,
                            product.layout);
}

/// A constant without dimensions of 1 in front of its matrix or vector.
Constants matrices(const Call& call, std::string_view argument) {
  Constants found = call.constants(argument);
  while (found.shape.size() > 2 && found.shape.front() == 1) found.shape.erase(found.shape.begin());
  return found;
}

/// [..., inputs, outputs] as [..., outputs, inputs].
Constants transposed(Constants matrix) {
  const std::size_t rank = matrix.shape.size();
  const Index rows = matrix.shape[rank - 2], columns = matrix.shape[rank - 1];
  const Codes codes = matrix.codes;
  for (std::size_t first = 0; first < codes.size(); first += at(rows * columns))
    for (Index row = 0; row < rows; ++row)
      for (Index column = 0; column < columns; ++column)
        matrix.codes[first + at(column * rows + row)] = codes[first + at(row * columns + column)];
  std::swap(matrix.shape[rank - 2], matrix.shape[rank - 1]);
  return matrix;
}

/// Rows of `sets` matrices side by side: torch [sets][rows][columns] as a stream of rows.
Layout beside_each_other(const Shape& torch, Index sets, Index rows, Index columns) {
  Layout layout{{rows, sets * columns}, torch, {}};
  for (Index row = 0; row < rows; ++row)
    for (Index set = 0; set < sets; ++set)
      for (Index column = 0; column < columns; ++column)
        layout.order.push_back((set * rows + row) * columns + column);
  return layout;
}

/// The matrix of every set, [outputs][inputs], where those there are stretch to `batch`.
Constants spread(const Constants& weight, const Shape& batch) {
  const Shape given(weight.shape.begin(), weight.shape.end() - 2);
  if (given.size() > batch.size())
    throw Refusal{"its constant has more dimensions than its stream, which moves the batch"};
  const Index size = weight.shape.end()[-1] * weight.shape.end()[-2];
  Shape front(batch.size() - given.size(), 1);
  front.insert(front.end(), given.begin(), given.end());
  for (std::size_t d = 0; d < batch.size(); ++d)
    if (front[d] != 1 && front[d] != batch[d])
      throw Refusal{"its constant " + shape_text(weight.shape) +
                    " has matrices that do not stretch to " + shape_text(batch) + " of its stream"};
  Constants all = weight;
  all.shape = {numel(batch) * weight.shape.end()[-2], weight.shape.end()[-1]};
  all.codes.clear();
  for (const Index from :
       moved_elements(front, batch, [&](std::size_t d, Index i) { return front[d] == 1 ? 0 : i; }))
    all.codes.insert(all.codes.end(), weight.codes.begin() + from * size,
                     weight.codes.begin() + (from + 1) * size);
  return all;
}

/// Each matrix of a stream [..., rows, inputs] by one of its own, [..., outputs, inputs]: a
/// convolution over the rows with a group for each.
StreamView grouped_product(const Call& call, StreamView x, const Constants& weight) {
  Shape torch = x.layout.torch_shape;
  const Index outputs = weight.shape.end()[-2], inputs = weight.shape.end()[-1];
  if (torch.size() < weight.shape.size() || torch.back() != inputs)
    throw Refusal{"its constant " + shape_text(weight.shape) + " does not fit its stream " +
                  shape_text(torch)};
  const Shape batch(torch.begin(), torch.end() - 2);
  const Index sets = numel(batch), rows = torch.end()[-2];
  Matrix matrix{spread(weight, batch), {}};
  x = call.lowering.reordered(x, beside_each_other(torch, sets, rows, inputs), call.node,
                              "data_in");
  Convolution convolution;
  convolution.window = window_over({sets * inputs, rows}, {Axis{rows, 1, 1, 1, 0, rows}});
  convolution.outputs = sets * outputs;
  convolution.groups = sets;
  convolution.weight_type = matrix.weight.type;
  convolution.weight = matrix.weight.codes;
  convolution.weight_code = matrix.weight.float_code(convolution.weight);
  torch.back() = outputs;
  return emit_product(call, std::move(convolution), x, matrix, inputs,
                      beside_each_other(torch, sets, rows, outputs));
}

StreamView by_constant(const Call& call, const StreamView& x, Constants weight) {
  if (weight.shape.size() > 2) return grouped_product(call, x, weight);
  return linear_product(call, x, std::move(weight));
}

/// The stream with the last two of its torch dimensions swapped.
StreamView turned(StreamView x) {
  const std::size_t rank = x.layout.torch_shape.size();
  std::vector<std::size_t> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[rank - 2], dims[rank - 1]);
  x.layout = permuted(std::move(x.layout), dims);
  return x;
}

/// In the shape of the result, which has no dimension for a vector's.
Operand shaped(const Call& call, StreamView x) {
  const Shape frame = call.frame_shape();
  if (numel(frame) != numel(x.layout.torch_shape))
    throw Refusal{"its constant has more dimensions than its stream, which moves the batch"};
  x.layout = reshaped(std::move(x.layout), frame);
  return x;
}

/// x w = linear(x, w^T).
Operand times_constant(const Call& call, std::string_view stream, std::string_view constant) {
  Constants matrix = matrices(call, constant);
  if (matrix.shape.size() == 1) matrix.shape.push_back(1);
  return shaped(call, by_constant(call, call.stream(stream), transposed(std::move(matrix))));
}

/// w x = (linear(x^T, w))^T.
Operand constant_times(const Call& call, std::string_view constant, std::string_view stream) {
  const StreamView x = call.stream(stream);
  if (x.layout.torch_shape.size() < 2)
    throw Refusal{"it multiplies a constant by columns of the batch; swap its operands"};
  Constants matrix = matrices(call, constant);
  if (matrix.shape.size() == 1) matrix.shape.insert(matrix.shape.begin(), 1);
  return shaped(call, turned(by_constant(call, turned(x), std::move(matrix))));
}

Operand lower_matrix_product(const Call& call, std::string_view other) {
  if (call.parameter(other)) return times_constant(call, "self", other);
  if (call.parameter("self")) return constant_times(call, "self", other);
  return lower_product(call, call.stream("self"), call.stream(other));
}

/// alpha x y of two streams, exactly.
StreamView scaled_product(const Call& call, const StreamView& x, const StreamView& y) {
  const StreamProduct product = product_of(call, x, y);
  const StreamView exact = call.lowering.emit_before(
      call.node, "product", product.operation, product.inputs, product.accumulator,
      exactly(product.accumulator.range), product.layout);
  const double alpha = call.number("alpha", 1);
  if (alpha == 1) return exact;
  auto [step, accumulator] = scale_step(call, exact, call.constant(alpha), std::nullopt);
  return call.lowering.emit_before(call.node, "scaled", std::move(step), {exact.id}, accumulator,
                                   exactly(accumulator.range), call.lowering.layout_of(exact));
}

/// self + alpha x y. With a constant vector and a constant matrix this is a linear layer, as GPT-2
/// writes it. With two streams it is a product and a sum, which is rounded once.
Operand lower_added_product(const Call& call, std::string_view x, std::string_view y) {
  if (call.number("beta", 1) != 1)
    throw Refusal{"it multiplies what it adds; write that as a product of its own"};
  if (is_stream(call, x) && is_stream(call, y))
    return sum_with(call, scaled_product(call, call.stream(x), call.stream(y)), "self");
  const bool linear = call.parameter("self") && call.parameter(y) && call.number("alpha", 1) == 1;
  Constants matrix = linear ? call.constants(y) : Constants();
  if (matrix.shape.size() != 2)
    throw Refusal{"it adds to a product with a constant; write it as torch.matmul and a sum"};
  return shaped(call, linear_product(call, call.stream(x), transposed(std::move(matrix)), "self"));
}

}  // namespace

std::vector<LoweringRow> product_rows() {
  return {
      {"matmul", [](const Call& call) { return lower_matrix_product(call, "other"); }, false,
       Factors::products},
      {"mm", [](const Call& call) { return lower_matrix_product(call, "mat2"); }, false,
       Factors::products},
      {"bmm", [](const Call& call) { return lower_matrix_product(call, "mat2"); }, false,
       Factors::products},
      {"addmm", [](const Call& call) { return lower_added_product(call, "mat1", "mat2"); }},
      {"baddbmm", [](const Call& call) { return lower_added_product(call, "batch1", "batch2"); }},
  };
}

}  // namespace mase::integer
