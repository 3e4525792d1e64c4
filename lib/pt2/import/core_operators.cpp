// SPDX-License-Identifier: Apache-2.0
// Operators that exports and PyTorch's decompositions write (run_decompositions), as those that a
// model calls: the graph has one operator for one computation.
#include <algorithm>

#include "base/error.hpp"
#include "pt2/import/core_operators.hpp"

namespace mase::pt2 {
namespace {

using Arguments = std::vector<ir::Argument>;
using NewName = std::pair<std::string_view, std::string_view>;  ///< argument: new, old

ir::Value value_or(const Call& call, std::string_view name, ir::Value otherwise) {
  const ir::Value* found = call.find(name);
  return found ? *found : otherwise;
}

/// The arguments with these names, in this order.
Arguments chosen(const Call& call, std::initializer_list<NewName> names) {
  Arguments args;
  for (const auto& [name, old] : names)
    if (const ir::Value* value = call.find(old)) args.push_back({std::string(name), *value});
  return args;
}

constexpr std::int64_t contiguous_format = 0;  ///< of c10::MemoryFormat

/// A core operator. `rewrite` changes name and arguments; false leaves the call as it is.
struct CoreRow {
  std::string_view op;
  bool (*rewrite)(Call& call);
};

bool rename(Call& call, std::string_view op, Arguments args) {
  call.op = op;
  call.args = std::move(args);
  return true;
}

bool to_copy(Call& call) {
  if (value_or(call, "dtype", {}).is_none())
    return rename(call, "aten::clone", chosen(call, {{"self", "self"}}));
  return rename(call, "aten::to.dtype", chosen(call, {{"self", "self"}, {"dtype", "dtype"}}));
}

/// The graph has neither devices nor layouts, so only a change of type is left.
bool to_type(Call& call) {
  if (value_or(call, "dtype", {}).is_none())
    return rename(call, "aten::alias", chosen(call, {{"self", "self"}}));
  return rename(call, "aten::to.dtype", chosen(call, {{"self", "self"}, {"dtype", "dtype"}}));
}

/// A copy whose elements lie in order.
bool clone(Call& call) {
  if (value_or(call, "memory_format", {}) != ir::Value(contiguous_format)) return false;
  return rename(call, "aten::contiguous", chosen(call, {{"self", "self"}}));
}

bool softmax(Call& call) {
  if (value_or(call, "half_to_float", false) == ir::Value(true)) return false;
  const std::string op =
      call.op == "aten::_softmax" ? "aten::softmax.int" : "aten::log_softmax.int";
  return rename(call, op, chosen(call, {{"self", "self"}, {"dim", "dim"}}));
}

bool convolution(Call& call) {
  const bool transposed = value_or(call, "transposed", false) == ir::Value(true);
  const ir::Value* stride = call.find("stride");
  if (!stride || stride->kind() != ir::Value::Kind::list) return false;
  const std::size_t dims = stride->items().size();
  if (dims < 1 || dims > 3) return false;
  const std::string size = std::to_string(dims) + "d";
  if (!transposed)
    return rename(call, "aten::conv" + size,
                  chosen(call, {{"input", "input"},
                                {"weight", "weight"},
                                {"bias", "bias"},
                                {"stride", "stride"},
                                {"padding", "padding"},
                                {"dilation", "dilation"},
                                {"groups", "groups"}}));
  return rename(call, "aten::conv_transpose" + size + (dims > 1 ? ".input" : ""),
                chosen(call, {{"input", "input"},
                              {"weight", "weight"},
                              {"bias", "bias"},
                              {"stride", "stride"},
                              {"padding", "padding"},
                              {"output_padding", "output_padding"},
                              {"groups", "groups"},
                              {"dilation", "dilation"}}));
}

bool batch_norm(Call& call) {
  const ir::Value training = value_or(call, "training", false);
  Arguments args = chosen(call, {{"input", "input"},
                                 {"weight", "weight"},
                                 {"bias", "bias"},
                                 {"running_mean", "running_mean"},
                                 {"running_var", "running_var"}});
  args.push_back({"training", training});
  args.push_back({"momentum", value_or(call, "momentum", 0.1)});
  args.push_back({"eps", value_or(call, "eps", 1e-5)});
  args.push_back({"cudnn_enabled", true});
  return rename(call, "aten::batch_norm", std::move(args));
}

bool layer_norm(Call& call) {
  return rename(call, "aten::layer_norm",
                chosen(call, {{"input", "input"},
                              {"normalized_shape", "normalized_shape"},
                              {"weight", "weight"},
                              {"bias", "bias"},
                              {"eps", "eps"}}));
}

bool group_norm(Call& call) {
  return rename(call, "aten::group_norm",
                chosen(call, {{"input", "input"},
                              {"num_groups", "group"},
                              {"weight", "weight"},
                              {"bias", "bias"},
                              {"eps", "eps"}}));
}

bool attention(Call& call) {
  return rename(call, "aten::scaled_dot_product_attention",
                chosen(call, {{"query", "query"},
                              {"key", "key"},
                              {"value", "value"},
                              {"attn_mask", "attn_mask"},
                              {"dropout_p", "dropout_p"},
                              {"is_causal", "is_causal"},
                              {"scale", "scale"}}));
}

/// Elements that nobody has written yet may be anything; here they are zeros.
template <const char* op>
bool zeros(Call& call) {
  return rename(call, op, chosen(call, {{"self", "self"}, {"size", "size"}, {"dtype", "dtype"}}));
}
constexpr char of_sizes[] = "aten::zeros", of_tensor[] = "aten::zeros_like",
               of_type[] = "aten::new_zeros";

bool pad(Call& call) {
  Arguments args = chosen(call, {{"self", "self"}, {"pad", "pad"}});
  const ir::Value value = value_or(call, "value", 0);
  if (!value.is_number() || value.as_double() != 0) args.push_back({"value", value});
  return rename(call, "aten::pad", std::move(args));
}

/// Without padding the operator has no argument for it.
bool bag(Call& call) {
  Arguments args = chosen(call, {{"weight", "weight"},
                                 {"indices", "indices"},
                                 {"offsets", "offsets"},
                                 {"scale_grad_by_freq", "scale_grad_by_freq"},
                                 {"mode", "mode"},
                                 {"sparse", "sparse"},
                                 {"per_sample_weights", "per_sample_weights"},
                                 {"include_last_offset", "include_last_offset"}});
  const ir::Value padding = value_or(call, "padding_idx", -1);
  if (padding == ir::Value(-1)) return rename(call, "aten::embedding_bag", std::move(args));
  args.push_back({"padding_idx", padding});
  return rename(call, "aten::embedding_bag.padding_idx", std::move(args));
}

/// In eval mode the noise plays no part.
bool leaky(Call& call) {
  if (value_or(call, "training", false) == ir::Value(true)) return false;
  return rename(call, "aten::rrelu",
                chosen(call, {{"self", "self"}, {"lower", "lower"}, {"upper", "upper"}}));
}

/// The same arguments under another name.
template <const char* op>
bool same_as(Call& call) {
  call.op = op;
  return true;
}
constexpr char view[] = "aten::view", adaptive_pool[] = "aten::adaptive_avg_pool2d",
               adaptive_pool3d[] = "aten::adaptive_avg_pool3d", distances[] = "aten::cdist",
               determinant[] = "aten::linalg_det", pool1d[] = "aten::max_pool1d",
               pool2d[] = "aten::max_pool2d", pool3d[] = "aten::max_pool3d";

constexpr CoreRow core_rows[] = {
    {"aten::_to_copy", to_copy},
    {"aten::to.device", to_type},
    {"aten::to.dtype_layout", to_type},
    {"aten::clone", clone},
    {"aten::_softmax", softmax},
    {"aten::_log_softmax", softmax},
    {"aten::convolution", convolution},
    {"aten::_native_batch_norm_legit_no_training", batch_norm},
    {"aten::_native_batch_norm_legit.no_stats", batch_norm},
    {"aten::native_layer_norm", layer_norm},
    {"aten::native_group_norm", group_norm},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", attention},
    {"aten::_unsafe_view", same_as<view>},
    {"aten::_adaptive_avg_pool2d", same_as<adaptive_pool>},
    {"aten::_adaptive_avg_pool3d", same_as<adaptive_pool3d>},
    {"aten::constant_pad_nd", pad},
    {"aten::_cdist_forward", same_as<distances>},
    {"aten::_linalg_det", same_as<determinant>},
    {"aten::_embedding_bag", bag},
    {"aten::_embedding_bag_forward_only", bag},
    {"aten::empty.memory_format", zeros<of_sizes>},
    {"aten::empty_permuted", zeros<of_sizes>},
    {"aten::empty_strided", zeros<of_sizes>},
    {"aten::empty_like", zeros<of_tensor>},
    {"aten::new_empty", zeros<of_type>},
    {"aten::new_empty_strided", zeros<of_type>},
    {"aten::rrelu_with_noise_functional", leaky},
    {"aten::max_pool1d_with_indices", same_as<pool1d>},
    {"aten::max_pool2d_with_indices", same_as<pool2d>},
    {"aten::max_pool3d_with_indices", same_as<pool3d>},
};

const CoreRow* core_row(std::string_view op) {
  const auto* row = std::ranges::find(core_rows, op, &CoreRow::op);
  return row == std::end(core_rows) ? nullptr : row;
}

}  // namespace

bool is_core_operator(std::string_view op) { return core_row(op) != nullptr; }

bool use_called_operator(Call& call) {
  const CoreRow* row = core_row(call.op);
  if (!row || !row->rewrite(call)) return false;
  call.schema = ir::find_schema(call.op);
  MASE_CHECK(call.schema, "the signature of " + call.op);
  return true;
}

}  // namespace mase::pt2
