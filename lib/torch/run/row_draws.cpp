// SPDX-License-Identifier: Apache-2.0
// A row for each operator that draws by row. The operations are those of ATen's functions of the
// same names, but for attention, whose formula is in the documentation of torch.nn.functional.
#include "torch/run/row_draws.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "torch/run/dropout.hpp"

namespace mase::libtorch {
namespace {

using Stack = std::vector<c10::IValue>;

/// The probability among the arguments of an operator (input, p, train), if it draws.
std::optional<double> drawn_probability(const Stack& stack) {
  enum { input, probability, train };
  const double p = stack[probability].toDouble();
  const bool draws = (stack[train].isNone() || stack[train].toBool()) && p > 0 && p < 1;
  return draws ? std::optional(p) : std::nullopt;
}

bool finish(Stack& stack, const at::Tensor& result) {
  stack.assign({c10::IValue(result)});
  return true;
}

/// One number for each channel of each row: [rows, channels, 1, ...].
at::Tensor like_channels(const at::Tensor& input) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(input.dim()), 1);
  sizes[0] = input.size(0);
  sizes[1] = input.size(1);
  return at::empty(sizes, input.options());
}

bool dropout(Stack& stack) {
  const auto p = drawn_probability(stack);
  if (!p) return false;
  const at::Tensor input = stack[0].toTensor();
  return finish(stack, input * dropout_factors(input, *p));
}

bool feature_dropout(Stack& stack) {
  const auto p = drawn_probability(stack);
  if (!p || stack[0].toTensor().dim() < 2) return false;
  const at::Tensor input = stack[0].toTensor();
  return finish(stack, input * dropout_factors(like_channels(input), *p));
}

/// Keeps mean and variance of what self-normalising networks compute (Klambauer et al., NeurIPS
/// 2017): dropped values become -1.758, and all are scaled and shifted.
bool drop_to_alpha(Stack& stack, const at::Tensor& like, double p) {
  constexpr double alpha = 1.7580993408473766;
  const double scale = 1.0 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  const at::Tensor kept =
      draws_of_rows(like, {}, [p](const at::Tensor& all) { all.bernoulli_(1 - p); });
  const at::Tensor shift = (kept - 1).mul_(alpha * scale).add_(alpha * scale * p);
  return finish(stack, (stack[0].toTensor() * (kept * scale)).add_(shift));
}

bool alpha_dropout(Stack& stack) {
  const auto p = drawn_probability(stack);
  return p && drop_to_alpha(stack, stack[0].toTensor(), *p);
}

bool feature_alpha_dropout(Stack& stack) {
  const auto p = drawn_probability(stack);
  if (!p || stack[0].toTensor().dim() < 2) return false;
  return drop_to_alpha(stack, like_channels(stack[0].toTensor()), *p);
}

bool native_dropout(Stack& stack) {
  const auto p = drawn_probability(stack);
  if (!p) return false;
  const at::Tensor input = stack[0].toTensor();
  const at::Tensor mask = draws_of_rows(at::empty_like(input, input.options().dtype(at::kBool)), {},
                                        [&](const at::Tensor& all) { all.bernoulli_(1 - *p); });
  stack.assign({c10::IValue(input.mul(mask).mul_(1 / (1 - *p))), c10::IValue(mask)});
  return true;
}

/// softmax(query key^T scale + mask), where a mask of truth values says what counts.
at::Tensor attention_weights(const Stack& stack, const at::Tensor& query, const at::Tensor& key) {
  enum { mask = 3, causal = 5, scale };
  const bool has_scale = stack.size() > scale && !stack[scale].isNone();
  const double factor =
      has_scale ? stack[scale].toDouble() : 1 / std::sqrt(static_cast<double>(query.size(-1)));
  at::Tensor scores = at::matmul(query, key.transpose(-2, -1)) * factor;
  at::Tensor given = stack[mask].isNone() ? at::Tensor() : stack[mask].toTensor();
  if (stack[causal].toBool())
    given = at::ones({query.size(-2), key.size(-2)}, query.options().dtype(at::kBool)).tril();
  if (given.defined() && given.scalar_type() == at::kBool)
    scores = scores.masked_fill(given.logical_not(), -std::numeric_limits<double>::infinity());
  else if (given.defined())
    scores = scores + given;
  return at::softmax(scores, -1);
}

/// softmax(...) value, with dropout of the weights.
bool attention(Stack& stack) {
  enum { query, key, value, mask, probability, causal, scale, grouped };
  const double p = stack[probability].toDouble();
  if (!(p > 0 && p < 1)) return false;
  const at::Tensor q = stack[query].toTensor();
  at::Tensor k = stack[key].toTensor(), v = stack[value].toTensor();
  if (stack.size() > grouped && stack[grouped].toBool()) {
    k = k.repeat_interleave(q.size(-3) / k.size(-3), -3);
    v = v.repeat_interleave(q.size(-3) / v.size(-3), -3);
  }
  const at::Tensor weights = attention_weights(stack, q, k);
  return finish(stack, at::matmul(weights * dropout_factors(weights, p), v));
}

struct Row {
  std::string_view op;
  DrawByRow draw;
};

constexpr std::array rows{
    Row{"aten::dropout", dropout},
    Row{"aten::feature_dropout", feature_dropout},
    Row{"aten::alpha_dropout", alpha_dropout},
    Row{"aten::feature_alpha_dropout", feature_alpha_dropout},
    Row{"aten::native_dropout", native_dropout},
    Row{"aten::scaled_dot_product_attention", attention},
};

}  // namespace

at::Tensor draws_of_rows(const at::Tensor& input, std::optional<std::size_t> dimension,
                         const std::function<void(const at::Tensor& all)>& draw) {
  const BatchParts* const parts = batch_parts_in_use();
  const PartRows own = parts ? parts->rows() : PartRows{};
  std::vector<std::int64_t> shape = input.sizes().vec();
  if (parts && !dimension) dimension = row_dimension(shape, own.own);
  if (!parts || !dimension || shape[*dimension] % own.own != 0) {
    const at::Tensor all = at::empty_like(input);
    draw(all);
    return all;
  }
  const std::int64_t of_row = shape[*dimension] / own.own;
  shape[*dimension] = own.all * of_row;
  const at::Tensor all = at::empty(shape, input.options().requires_grad(false));
  draw(all);
  return all.narrow(static_cast<std::int64_t>(*dimension), own.first * of_row, own.own * of_row);
}

DrawByRow find_draw_by_row(std::string_view op) {
  for (const Row& row : rows)
    if (row.op == op) return row.draw;
  return nullptr;
}

}  // namespace mase::libtorch
