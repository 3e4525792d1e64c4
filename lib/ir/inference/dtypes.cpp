// SPDX-License-Identifier: Apache-2.0
// The promotion of dtypes, as torch.result_type documents it.
#include "ir/inference/dtypes.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mase::ir {
namespace {

using MaybeType = std::optional<DType>;

/// c10/core/ScalarType.h
constexpr std::array<std::pair<std::int64_t, DType>, 12> dtype_numbers{{
    {0, DType::uint8},
    {1, DType::int8},
    {2, DType::int16},
    {3, DType::int32},
    {4, DType::int64},
    {5, DType::float16},
    {6, DType::float32},
    {7, DType::float64},
    {11, DType::boolean},
    {15, DType::bfloat16},
    {27, DType::uint16},
    {28, DType::uint32},
}};

bool is_unsigned(DType dtype) {
  return dtype == DType::uint8 || dtype == DType::uint16 || dtype == DType::uint32;
}

DType larger(DType a, DType b) { return size_of(a) < size_of(b) ? b : a; }

/// The smallest signed integers that hold those of both.
MaybeType common_integers(DType a, DType b) {
  if (is_unsigned(a) == is_unsigned(b)) return larger(a, b);
  const auto [small, wide] = is_unsigned(a) ? std::pair{a, b} : std::pair{b, a};
  if (small != DType::uint8) return std::nullopt;
  return size_of(wide) == 1 ? DType::int16 : wide;
}

MaybeType common_type(DType a, DType b) {
  if (a == b || b == DType::boolean) return a;
  if (a == DType::boolean) return b;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (!is_floating(a)) return common_integers(a, b);
  return size_of(a) == size_of(b) ? DType::float32 : larger(a, b);
}

/// How much an operand counts: tensors with dimensions, without, numbers on the host.
enum OperandRank { with_dimensions, without_dimensions, on_host, operand_ranks };

OperandRank rank_of(const ValueInfo& operand) {
  if (!operand.is_tensor()) return on_host;
  return operand.shape.empty() ? without_dimensions : with_dimensions;
}

MaybeType own_dtype(const ValueInfo& operand) {
  switch (operand.kind) {
    case ValueInfo::Kind::tensor:
      return operand.dtype;
    case ValueInfo::Kind::integer:
      return DType::int64;
    case ValueInfo::Kind::number:
      return DType::float32;
    case ValueInfo::Kind::boolean:
      return DType::boolean;
    default:
      return std::nullopt;
  }
}

/// bool, integers, floats.
int category(DType dtype) { return dtype == DType::boolean ? 0 : is_floating(dtype) ? 2 : 1; }

}  // namespace

std::optional<DType> dtype_of_number(std::int64_t number) {
  const auto found =
      std::ranges::find(dtype_numbers, number, [](const auto& row) { return row.first; });
  if (found == dtype_numbers.end()) return std::nullopt;
  return found->second;
}

DType as_float_type(DType dtype) { return is_floating(dtype) ? dtype : DType::float32; }

DType as_sum_type(DType dtype) { return is_floating(dtype) ? dtype : DType::int64; }

std::optional<DType> promoted(const std::vector<ValueInfo>& operands) {
  std::array<MaybeType, operand_ranks> by_rank;
  for (const ValueInfo& operand : operands) {
    const MaybeType own = own_dtype(operand);
    MaybeType& same_rank = by_rank[rank_of(operand)];
    if (!own) return std::nullopt;
    same_rank = same_rank ? common_type(*same_rank, *own) : own;
    if (!same_rank) return std::nullopt;
  }
  MaybeType result;
  for (const MaybeType& lower : by_rank) {
    if (!lower || (result && category(*lower) <= category(*result))) continue;
    result = result ? common_type(*result, *lower) : lower;
  }
  return result;
}

}  // namespace mase::ir
