// SPDX-License-Identifier: Apache-2.0
// The parts of the table of rules: one function per subject returns its rows, and inference.cpp
// joins them. A row is for one operator, or for all operators of a family without rows of their
// own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/inference/call.hpp"
#include "ir/op_table.hpp"

namespace mase::ir {

using Inferred = std::optional<ValueInfo>;
using InfoKind = ValueInfo::Kind;

/// The rule of an operator by its base name ("aten::cat"), or of a family.
struct InferenceRule {
  std::variant<std::string_view, OpFamily> of;
  Inferred (*infer)(const Call& call);
};

std::vector<InferenceRule> product_rules();
std::vector<InferenceRule> window_rules();
std::vector<InferenceRule> layer_rules();
std::vector<InferenceRule> sequence_rules();
std::vector<InferenceRule> elementwise_rules();
std::vector<InferenceRule> reduction_rules();
std::vector<InferenceRule> reshape_rules();
std::vector<InferenceRule> movement_rules();
std::vector<InferenceRule> index_rules();
std::vector<InferenceRule> creation_rules();
std::vector<InferenceRule> host_rules();
std::vector<InferenceRule> outside_rules();
std::vector<InferenceRule> rearrangement_rules();

inline ValueInfo host_info(ValueInfo::Kind kind) {
  ValueInfo info;
  info.kind = kind;
  return info;
}
inline ValueInfo container_info(ValueInfo::Kind kind, std::vector<ValueInfo> elements) {
  ValueInfo info = host_info(kind);
  info.elements = std::move(elements);
  return info;
}
inline ValueInfo tuple_info(std::vector<ValueInfo> elements) {
  return container_info(ValueInfo::Kind::tuple, std::move(elements));
}

/// The shape from a dimension to one before another.
inline Shape part_of(const Shape& shape, std::size_t first, std::size_t last) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(first),
          shape.begin() + static_cast<std::ptrdiff_t>(last)};
}
inline Shape joined(Shape first, const Shape& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The number of places that a slice takes of a dimension; bounds count from the end if negative.
std::int64_t slice_length(const Call& call, std::int64_t size, std::int64_t first,
                          std::int64_t last, std::int64_t step);

/// The result has the dtype and shape of the input.
inline Inferred same_as_input(const Call& call) { return call.input(); }

}  // namespace mase::ir
