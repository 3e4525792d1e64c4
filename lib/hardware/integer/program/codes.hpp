// SPDX-License-Identifier: Apache-2.0
// Lists of integer codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mase::integer {

/// Integer codes, as wide as any format has them.
using Codes = std::vector<std::int64_t>;

inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace mase::integer
