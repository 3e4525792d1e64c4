// SPDX-License-Identifier: Apache-2.0
// What the conditions of guards read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mase::ir {

/// A size that a guard reads, "size(NAME, DIM)".
struct ReadSize {
  std::string name;
  std::int64_t dim = 0;  ///< counted from the front, or from the end if negative
};

/// The sizes in a guard's condition; nothing if it reads anything else.
std::optional<std::vector<ReadSize>> sizes_in(const std::string& condition);

/// A size, or nothing where it is not known.
using SizeOf = std::function<std::optional<std::int64_t>(const ReadSize& size)>;

/// Whether a condition is true: comparisons of whole numbers and sizes with +, -, *, // and %, in
/// Python's order and with its rounding, joined by `and`, `or` and `not`. Nothing for a text that
/// is anything else, and for one that reads an unknown size or divides by 0.
std::optional<bool> holds(const std::string& condition, const SizeOf& size_of);

}  // namespace mase::ir
