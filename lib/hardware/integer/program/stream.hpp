// SPDX-License-Identifier: Apache-2.0
// What flows between two steps.
//
// A value holds one frame (the batch dimension is taken away) as a sequence of codes in stream
// order: row-major with channels last, [H, W, C] for a torch tensor [C, H, W], [T, F] for rows of
// features. `order` says which torch element each stream element is, so that flatten, view and
// reshape cost nothing: consumers permute their weights instead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "hardware/integer/fixed.hpp"

namespace mase::integer {

/// Index into Program::values.
using ValueId = int;

/// What flows between two steps.
struct StreamValue {
  std::string name;   ///< the node whose result this is
  FixedType type;     ///< at most 62 bits wide
  Shape shape;        ///< of one frame in stream order; the last dimension is innermost
  Shape torch_shape;  ///< of one frame as torch has it
  /// order[i] = row-major torch index of stream element i; empty: the same.
  std::vector<std::int64_t> order;

  std::int64_t elements() const { return numel(shape); }
  std::int64_t channels() const { return shape.empty() ? 1 : shape.back(); }
};

}  // namespace mase::integer
