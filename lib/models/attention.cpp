// SPDX-License-Identifier: Apache-2.0
// Heads, scores and their mean.
#include "models/attention.hpp"

#include <cmath>
#include <limits>

namespace mase::models {
namespace {

using enum ir::NodeKind;
using ir::Value;

void transpose(Builder& builder, int first, int second, const Shape& result) {
  builder.call(call_method, "transpose", "aten::transpose.int",
               {{"dim0", Value(first)}, {"dim1", Value(second)}}, result);
}

void matmul(Builder& builder, const Joint& other, const Shape& result) {
  builder.call(call_function, "_operator.matmul", "aten::matmul",
               {{"other", Value(ir::NodeRef{other.node})}}, result);
}

/// Scores of the keys for every query, [heads, tokens, tokens].
void scores(Builder& builder, const Joint& query, const Joint& key) {
  const std::int64_t heads = key.shape[0], tokens = key.shape[1], size = key.shape[2];
  builder.go_on_from(key);
  transpose(builder, -2, -1, {heads, size, tokens});
  const Joint transposed = builder.joint();
  builder.go_on_from(query);
  matmul(builder, transposed, {heads, tokens, tokens});
  builder.call(call_function, "_operator.truediv", "aten::div.Scalar",
               {{"other", Value(std::sqrt(static_cast<double>(size)))}}, builder.shape());
}

}  // namespace

Value list(const Shape& values) {
  Value::List items;
  for (const std::int64_t value : values) items.emplace_back(value);
  return Value::list(items);
}

void part_heads(Builder& builder, std::int64_t heads) {
  const std::int64_t tokens = builder.shape().at(0), size = builder.shape().at(1) / heads;
  builder.call(call_method, "reshape", "aten::reshape",
               {{"shape", list({-1, tokens, heads, size})}}, {tokens, heads, size});
  transpose(builder, 1, 2, {heads, tokens, size});
}

void attend(Builder& builder, const Joint& query, const Joint& key, const Joint& value,
            const std::optional<Joint>& mask) {
  const std::int64_t heads = query.shape[0], tokens = query.shape[1], size = query.shape[2];
  scores(builder, query, key);
  if (mask)
    builder.call(call_method, "masked_fill", "aten::masked_fill.Scalar",
                 {{"mask", Value(ir::NodeRef{mask->node})},
                  {"value", Value(-std::numeric_limits<double>::infinity())}},
                 builder.shape());
  builder.call(call_method, "softmax", "aten::softmax.int", {{"dim", Value(-1)}}, builder.shape());
  matmul(builder, value, {heads, tokens, size});
  transpose(builder, 1, 2, {tokens, heads, size});
  builder.call(call_method, "reshape", "aten::reshape",
               {{"shape", list({-1, tokens, heads * size})}}, {tokens, heads * size});
}

}  // namespace mase::models
