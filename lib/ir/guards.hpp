// SPDX-License-Identifier: Apache-2.0
// What the conditions of guards read.
#pragma once

#include <cstdint>
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

}  // namespace mase::ir
