// SPDX-License-Identifier: Apache-2.0
// Rows of attention. Attention is ATen's operator where that computes the same; scores that the
// file asks for, limits of scores and windows are written as several nodes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

ir::NodeId swapped(Call& call, ir::NodeId node, std::int64_t a, std::int64_t b) {
  return call.emit("aten::transpose.int", {{"self", ref(node)}, {"dim0", a}, {"dim1", b}});
}

/// [rows, steps, heads * features] as [rows, steps, heads, features].
ir::NodeId with_heads(Call& call, ir::NodeId node, std::int64_t heads) {
  return reshaped(call, node,
                  {call.size(node, 0), call.size(node, 1), ir::Value(heads), ir::Value(-1)});
}

ir::NodeId without_heads(Call& call, ir::NodeId node) {
  return reshaped(call, node, {call.size(node, 0), call.size(node, 1), ir::Value(-1)});
}

ir::NodeId joined(Call& call, std::vector<ir::Value> parts, std::int64_t dim) {
  return call.emit("aten::cat", {{"tensors", ir::Value::list(std::move(parts))}, {"dim", dim}});
}

class Attention {
 public:
  explicit Attention(Call& call) : call_(call), flat_(call.rank(0) == 3) {
    query_ = heads_of(0, "q_num_heads");
    key_ = with_past(heads_of(1, "kv_num_heads"), 4);
    value_ = with_past(heads_of(2, "kv_num_heads"), 5);
    const double features = static_cast<double>(fixed_size(call, query_, 3));
    scale_ = call.number("scale", 1 / std::sqrt(features));
    groups_ = fixed_size(call, query_, 1) / std::max<std::int64_t>(1, fixed_size(call, key_, 1));
  }

  void import() {
    call_.result(key_, 1);
    call_.result(value_, 2);
    const ir::NodeId result = is_plain() ? plain() : written_out();
    call_.result(flat_ ? without_heads(call_, swapped(call_, result, 1, 2)) : result);
  }

 private:
  ir::NodeId heads_of(std::size_t i, std::string_view heads) {
    if (!flat_) return call_.tensor(i);
    const std::int64_t count = call_.integer(heads, 0);
    if (count <= 0) call_.wrong("it has no " + std::string(heads));
    return swapped(call_, with_heads(call_, call_.tensor(i), count), 1, 2);
  }

  ir::NodeId with_past(ir::NodeId node, std::size_t past) {
    return call_.has(past) ? joined(call_, {call_.ref(past), ref(node)}, 2) : node;
  }

  bool is_causal() const { return call_.integer("is_causal", 0) != 0; }
  std::int64_t window(std::string_view side) const { return call_.integer(side, -1); }

  bool is_plain() {
    const bool windows = window("left_window_size") >= 0 || window("right_window_size") >= 0;
    if (windows || call_.wants(3) || call_.has(6) || call_.number("softcap", 0) != 0) return false;
    if (!call_.has(3)) return !is_causal() || !call_.has(4);
    return !is_causal() && mask_fits();
  }

  /// Whether the mask has a number for each key.
  bool mask_fits() {
    const ir::NodeId mask = call_.tensor(3);
    const std::int64_t rank = call_.rank(3);
    if (rank < 2) return false;
    const auto& worlds = call_.importer().worlds();
    const auto keys = worlds.fixed_size(key_, 2);
    const auto given = worlds.fixed_size(mask, static_cast<std::size_t>(rank - 1));
    return keys && given == keys;
  }

  ir::NodeId plain() {
    std::vector<ir::Argument> args{
        {"query", ref(query_)}, {"key", ref(key_)}, {"value", ref(value_)}};
    if (call_.has(3)) args.push_back({"attn_mask", call_.ref(3)});
    if (is_causal()) args.push_back({"is_causal", true});
    if (call_.has_attribute("scale")) args.push_back({"scale", scale_});
    if (groups_ != 1) args.push_back({"enable_gqa", true});
    return call_.emit("aten::scaled_dot_product_attention", std::move(args));
  }

  /// The heads of keys or values, each as often as queries share it.
  ir::NodeId shared(ir::NodeId node) {
    if (groups_ == 1) return node;
    return call_.emit("aten::repeat_interleave.self_int",
                      {{"self", ref(node)}, {"repeats", groups_}, {"dim", 1}});
  }

  void give_scores(ir::NodeId scores, std::int64_t mode) {
    if (call_.integer("qk_matmul_output_mode", 0) == mode) call_.result(scores, 3);
  }

  ir::NodeId written_out() {
    const double half = std::sqrt(scale_);
    const ir::NodeId keys = swapped(call_, shared(key_), 2, 3);
    ir::NodeId scores =
        call_.emit("aten::matmul", {{"self", ref(combined(call_, "aten::mul", query_, half))},
                                    {"other", ref(combined(call_, "aten::mul", keys, half))}});
    give_scores(scores, 0);
    if (const double cap = call_.number("softcap", 0); cap != 0) {
      scores = applied(call_, "aten::tanh", combined(call_, "aten::div", scores, cap));
      scores = combined(call_, "aten::mul", scores, cap);
    }
    give_scores(scores, 1);
    scores = masked(scores);
    give_scores(scores, 2);
    const ir::NodeId weights = weights_of(scores);
    give_scores(weights, 3);
    return call_.emit("aten::matmul", {{"self", ref(weights)}, {"other", ref(shared(value_))}});
  }

  /// Softmax; a query that sees no key gets zeros.
  ir::NodeId weights_of(ir::NodeId scores) {
    const DType dtype = call_.info(scores).dtype;
    DType precise = dtype;
    if (call_.has_attribute("softmax_precision"))
      precise =
          dtype_of(static_cast<ElementType>(call_.integer("softmax_precision", 1))).value_or(dtype);
    const ir::NodeId softmax = call_.emit(
        "aten::softmax.int", {{"self", ref(converted(call_, scores, precise))}, {"dim", -1}});
    const ir::NodeId weights = converted(call_, softmax, dtype);
    const ir::NodeId most = call_.emit(
        "aten::amax", {{"self", ref(scores)}, {"dim", list_of({-1})}, {"keepdim", true}});
    const ir::NodeId sees_none = combined(call_, "aten::eq", most, -unbounded);
    return filled(weights, sees_none, 0.0);
  }

  ir::NodeId filled(ir::NodeId node, ir::NodeId where, double value) {
    return call_.emit("aten::masked_fill.Scalar",
                      {{"self", ref(node)}, {"mask", ref(where)}, {"value", value}});
  }

  /// The mask with as many places as there are keys; those that it lacks are not seen.
  ir::NodeId whole_mask() {
    const ir::NodeId mask = call_.tensor(3);
    const std::int64_t given = fixed_size(call_, mask, call_.rank(3) - 1);
    const std::int64_t lacks = given == 1 ? 0 : fixed_size(call_, key_, 2) - given;
    if (lacks <= 0) return mask;
    return call_.emit("aten::pad",
                      {{"self", ref(mask)},
                       {"pad", list_of({0, lacks})},
                       {"mode", "constant"},
                       {"value", call_.dtype(3) == DType::boolean ? 0.0 : -unbounded}});
  }

  ir::NodeId masked(ir::NodeId scores) {
    ir::NodeId seen = seen_places();
    if (call_.has(3)) {
      const ir::NodeId mask = whole_mask();
      if (call_.dtype(3) == DType::boolean)
        seen = both(seen, mask);
      else
        scores = combined(call_, "aten::add", scores,
                          ref(converted(call_, mask, call_.info(scores).dtype)));
    }
    if (seen == ir::no_node) return scores;
    return filled(scores, applied(call_, "aten::logical_not", seen), -unbounded);
  }

  ir::NodeId both(ir::NodeId a, ir::NodeId b) {
    if (a == ir::no_node) return b;
    return call_.emit("aten::logical_and", {{"self", ref(a)}, {"other", ref(b)}});
  }

  ir::NodeId numbers(const ir::Value& count) {
    return call_.emit("aten::arange", {{"end", count}, {"dtype", number_of(DType::int64)}});
  }

  /// The number of keys of each row that count: [rows, 1, 1, 1].
  ir::NodeId lengths() {
    return reshaped(call_, converted(call_, call_.tensor(6), DType::int64),
                    {ir::Value(-1), ir::Value(1), ir::Value(1), ir::Value(1)});
  }

  /// The key at the place of each query: [queries, 1], or one for each row of the batch.
  ir::NodeId own_keys() {
    const ir::NodeId steps =
        call_.emit("aten::unsqueeze", {{"self", ref(numbers(call_.size(query_, 2)))}, {"dim", 1}});
    if (call_.has(6)) {
      const ir::NodeId first =
          combined(call_, "aten::sub", lengths(), fixed_size(call_, query_, 2));
      return combined(call_, "aten::add", steps, ref(first));
    }
    if (!call_.has(4)) return steps;
    return combined(call_, "aten::add", steps, fixed_size(call_, call_.tensor(4), 2));
  }

  /// Where a query sees a key, by causality, windows and lengths; no_node if it sees all.
  ir::NodeId seen_places() {
    ir::NodeId seen = ir::no_node;
    const std::int64_t left = window("left_window_size"), right = window("right_window_size");
    if (!is_causal() && left < 0 && right < 0 && !call_.has(6)) return seen;
    const ir::NodeId keys = numbers(call_.size(key_, 2));
    const auto see = [&](std::string_view comparison, ir::NodeId bound) {
      seen = both(seen, combined(call_, comparison, keys, ref(bound)));
    };
    if (call_.has(6)) see("aten::lt", lengths());
    if (is_causal()) see("aten::le", own_keys());
    if (left >= 0) see("aten::ge", combined(call_, "aten::sub", own_keys(), left));
    if (right >= 0) see("aten::le", combined(call_, "aten::add", own_keys(), right));
    return seen;
  }

  Call& call_;
  bool flat_;
  ir::NodeId query_ = ir::no_node, key_ = ir::no_node, value_ = ir::no_node;
  double scale_ = 1;
  std::int64_t groups_ = 1;
};

void attention(Call& call) { Attention(call).import(); }

ir::NodeId part(Call& call, ir::NodeId node, std::int64_t start, std::int64_t end,
                std::int64_t step) {
  return call.emit(
      "aten::slice.Tensor",
      {{"self", ref(node)}, {"dim", -1}, {"start", start}, {"end", end}, {"step", step}});
}

/// Cosines or sines as [rows, steps, 1, features / 2].
ir::NodeId angles(Call& call, std::size_t i) {
  ir::NodeId table = call.tensor(i);
  if (call.has(3))
    table = call.emit("aten::embedding", {{"weight", ref(table)}, {"indices", call.ref(3)}});
  return call.emit("aten::unsqueeze", {{"self", ref(table)}, {"dim", 2}});
}

/// Pairs of features, as [rows, steps, heads, features], turn by the angle of their step.
ir::NodeId rotated(Call& call, ir::NodeId node, std::int64_t count, bool alternate) {
  const std::int64_t middle = count / 2;
  const ir::NodeId first =
      alternate ? part(call, node, 0, count, 2) : part(call, node, 0, middle, 1);
  const ir::NodeId second =
      alternate ? part(call, node, 1, count, 2) : part(call, node, middle, count, 1);
  const ir::NodeId cosine = angles(call, 1), sine = angles(call, 2);
  const auto times = [&](ir::NodeId a, ir::NodeId b) {
    return combined(call, "aten::mul", a, ref(b));
  };
  const ir::NodeId real =
      combined(call, "aten::sub", times(first, cosine), ref(times(second, sine)));
  const ir::NodeId imaginary =
      combined(call, "aten::add", times(first, sine), ref(times(second, cosine)));
  if (!alternate) return joined(call, {ref(real), ref(imaginary)}, -1);
  const ir::NodeId pairs = call.emit(
      "aten::stack", {{"tensors", ir::Value::list({ref(real), ref(imaginary)})}, {"dim", -1}});
  return call.emit("aten::flatten.using_ints", {{"self", ref(pairs)}, {"start_dim", -2}});
}

void rotary_embedding(Call& call) {
  const bool flat = call.rank(0) == 3;
  const std::int64_t heads = call.integer("num_heads", 0);
  if (flat && heads <= 0) call.wrong("it has no num_heads");
  const ir::NodeId input =
      flat ? with_heads(call, call.tensor(0), heads) : swapped(call, call.tensor(0), 1, 2);
  const std::int64_t features = fixed_size(call, input, 3);
  std::int64_t count = call.integer("rotary_embedding_dim", 0);
  if (count == 0) count = features;
  ir::NodeId result = rotated(call, input, count, call.integer("interleaved", 0) != 0);
  if (count < features)
    result = joined(call, {ref(result), ref(part(call, input, count, features, 1))}, -1);
  call.result(flat ? without_heads(call, result) : swapped(call, result, 1, 2));
}

}  // namespace

std::vector<Row> attention_rows() {
  return {
      {"Attention", 23, attention},
      {"RotaryEmbedding", 23, rotary_embedding},
  };
}

}  // namespace mase::onnx
