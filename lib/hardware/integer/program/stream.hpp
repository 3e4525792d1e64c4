// SPDX-License-Identifier: Apache-2.0
// What flows between two steps.
//
// A value holds one frame (the batch dimension is taken away) as a sequence of codes in stream
// order: row-major with channels last, [H, W, C] for a torch tensor [C, H, W], [T, F] for rows of
// features. `order` says which torch element each stream element is, so that flatten, view and
// reshape cost nothing: consumers permute their weights instead.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "hardware/integer/fixed.hpp"
#include "hardware/integer/float_code.hpp"
#include "hardware/integer/levels.hpp"

namespace mase::integer {

/// Index into Program::values.
using ValueId = int;

/// What flows between two steps.
struct StreamValue {
  std::string name;  ///< the node whose result this is
  /// How wide its codes are: `stream_bits` at most, those of an exact sum `accumulator_bits`.
  FixedType type;
  Shape shape;        ///< of one frame in stream order; the last dimension is innermost
  Shape torch_shape;  ///< of one frame as torch has it
  /// order[i] = row-major torch index of stream element i; empty: the same.
  std::vector<std::int64_t> order;
  /// The numbers that it can have, where those are an element format's only; null for others.
  std::shared_ptr<const Levels> levels = nullptr;
  /// How its codes stand for numbers, in units of 2^-type.frac; nullopt: they are the numbers.
  std::optional<FloatCode> code = std::nullopt;

  /// What the host multiplies numbers by to have those of the model: one factor for all, or one for
  /// each channel; empty: by nothing. An input is divided by a float32 number.
  std::vector<double> scales = {};

  std::int64_t elements() const { return numel(shape); }
  std::int64_t channels() const { return shape.empty() ? 1 : shape.back(); }
  FixedType numbers() const;  ///< the type of the numbers that its codes stand for
  /// The least code and the greatest one of a number that it can have.
  std::int64_t least_code() const;
  std::int64_t greatest_code() const;
};

}  // namespace mase::integer
