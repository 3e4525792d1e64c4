// SPDX-License-Identifier: Apache-2.0
// The table of demands, with a row per operator, apart from sequences and enumerations.
#include "torch/run/operator_demands.hpp"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <limits>

#include "base/array.hpp"
#include "base/error.hpp"
#include "ir/op_table.hpp"
#include "torch/run/enumerations.hpp"
#include "torch/run/recurrent_checks.hpp"

namespace mase::libtorch {
namespace {

using Arguments = std::vector<c10::IValue>;

/// Demand of matrix_power: LibTorch's loop of squarings does not end for the smallest integer.
std::string of_matrix_power(const Arguments& arguments) {
  constexpr std::int64_t most = 1'000'000'000;
  if (arguments.size() < 2 || !arguments[1].isInt()) return "";
  const std::int64_t power = arguments[1].toInt();
  if (power >= -most && power <= most) return "";
  return "takes powers from -1e9 to 1e9, given " + std::to_string(power);
}

/// Demand of weight_norm(v, g, dim): g has one number per index of v along the dimension.
std::string of_weight_norm(const Arguments& arguments) {
  if (arguments.size() < 3 || !arguments[0].isTensor() || !arguments[1].isTensor() ||
      !arguments[2].isInt())
    return "";
  const at::Tensor v = arguments[0].toTensor(), g = arguments[1].toTensor();
  const std::int64_t dim = arguments[2].toInt();
  std::vector<std::int64_t> norms(static_cast<std::size_t>(v.dim()), 1);
  if (dim < -1 || dim >= v.dim() || v.numel() == 0)
    return "takes a weight with elements and a dimension of it, given " +
           shape_text(v.sizes().vec()) + " and " + std::to_string(dim);
  if (dim >= 0) norms[static_cast<std::size_t>(dim)] = v.size(dim);
  if (g.sizes() == norms || (dim == -1 && g.numel() == 1)) return "";
  return "takes norms of the shape " + shape_text(norms) + ", given " + shape_text(g.sizes().vec());
}

/// Demand of repeating a list or text, which LibTorch does element by element without any limit.
std::string of_repetition(const Arguments& arguments) {
  constexpr std::int64_t most = 10'000'000;
  if (arguments.size() != 2) return "";
  const bool first = arguments[0].isInt();
  const c10::IValue& items = arguments[first ? 1 : 0];
  const c10::IValue& count = arguments[first ? 0 : 1];
  if (!count.isInt() || !(items.isList() || items.isString())) return "";
  const auto size = static_cast<std::int64_t>(items.isList() ? items.toListRef().size()
                                                             : items.toStringRef().size());
  if (size == 0 || count.toInt() <= most / size) return "";
  return "makes at most " + std::to_string(most) + " elements, given " + std::to_string(size) +
         " elements " + std::to_string(count.toInt()) + " times";
}

/// Demand of replace(text, old, new): LibTorch finds an empty text again and again for ever.
std::string of_replace(const Arguments& arguments) {
  const bool empty =
      arguments.size() > 1 && arguments[1].isString() && arguments[1].toStringRef().empty();
  return empty ? "takes a non-empty text to replace" : "";
}

/// Whether it has the smallest integer of its type, which the processor cannot divide by -1.
bool has_smallest(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kLong)
    return tensor.eq(std::numeric_limits<std::int64_t>::min()).any().item<bool>();
  return tensor.scalar_type() == at::kInt &&
         tensor.eq(std::numeric_limits<std::int32_t>::min()).any().item<bool>();
}

/// Demand of div(self, other, rounding_mode): LibTorch only checks integer divisors for 0.
std::string of_division(const Arguments& arguments) {
  if (arguments.size() != 3 || !arguments[2].isString() || !arguments[0].isTensor() ||
      arguments[2].toStringRef() != "trunc" || !has_smallest(arguments[0].toTensor()))
    return "";
  const c10::IValue& other = arguments[1];
  const bool minus = other.isTensor() ? other.toTensor().eq(-1).any().item<bool>()
                                      : other.isInt() && other.toInt() == -1;
  return minus ? "cannot divide the smallest integer by -1" : "";
}

/// Demand of torch.nn's fused attention, with the number of heads and the mask at these positions.
/// LibTorch divides by the heads, and reads all tensors before the mask with the type of the first.
template <std::size_t heads, std::size_t mask>
std::string of_fused_attention(const Arguments& arguments) {
  if (arguments.size() <= mask || !arguments[0].isTensor() || !arguments[heads].isInt()) return "";
  if (arguments[heads].toInt() < 1)
    return "takes at least one head, given " + std::to_string(arguments[heads].toInt());
  const at::ScalarType type = arguments[0].toTensor().scalar_type();
  const auto fits = [type](const c10::IValue& argument) {
    return !argument.isTensor() || argument.toTensor().scalar_type() == type;
  };
  const bool all = std::all_of(arguments.begin(), arguments.begin() + mask, fits);
  return all && at::isFloatingType(type) ? "" : "takes data and weights of one type of floats";
}

struct OperatorDemand {
  std::string_view base;
  std::string (*unmet)(const Arguments&);
  bool of_host = false;  ///< has no demands on tensors, so no graph has such arguments
};

constexpr OperatorDemand operator_demands[] = {
    {"aten::matrix_power", of_matrix_power},
    {"aten::linalg_matrix_power", of_matrix_power},
    {"aten::_weight_norm", of_weight_norm},
    {"aten::_weight_norm_interface", of_weight_norm},
    {"aten::_native_multi_head_attention", of_fused_attention<4, 9>},
    {"aten::_transformer_encoder_layer_fwd", of_fused_attention<2, 18>},
    {"aten::div", of_division},
    {"aten::divide", of_division},
    {"aten::mul", of_repetition, true},
    {"aten::replace", of_replace, true},
};

const OperatorDemand* find_demand(std::string_view op) {
  const std::string_view base = ir::plain_op(op);
  const auto found = std::ranges::find(operator_demands, base, &OperatorDemand::base);
  return found == std::end(operator_demands) ? nullptr : found;
}

}  // namespace

bool has_demands(std::string_view op) {
  return is_over_sequences(op) || find_demand(op) != nullptr;
}

bool has_tensor_demands(std::string_view op) {
  const OperatorDemand* row = find_demand(op);
  return is_over_sequences(op) || (row && !row->of_host);
}

std::string operator_demand(std::string_view op, const c10::FunctionSchema* schema,
                            const Arguments& arguments) {
  std::string unmet = schema ? enumeration_demand(*schema, arguments) : "";
  if (unmet.empty()) unmet = sequence_demand(op, arguments);
  if (!unmet.empty()) return unmet;
  const OperatorDemand* row = find_demand(op);
  return row ? row->unmet(arguments) : "";
}

void require_demands(std::string_view op, const Arguments& arguments) {
  if (const std::string unmet = operator_demand(op, nullptr, arguments); !unmet.empty())
    file_error(std::string(op) + " " + unmet);
}

}  // namespace mase::libtorch
