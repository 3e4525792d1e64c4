// SPDX-License-Identifier: Apache-2.0
// Constants of steps as codes.
#pragma once

#include <optional>
#include <vector>

#include "hardware/integer/program.hpp"
#include "hardware/integer/program/bounds.hpp"

namespace mase::integer {

/// Constants as codes.
struct Constants {
  Shape shape;
  FixedType type;
  Codes codes;
  /// Fraction bits of the slices of dimension 0; empty: those of the type for all.
  std::vector<int> fracs = {};
  /// All codes that another checkpoint may have; nullopt if these are the only ones.
  std::optional<Interval> any = std::nullopt;
  /// Whether they are numbers of an element format, and the short codes of all that may come.
  bool elements = false;
  std::optional<FloatCode> any_code = std::nullopt;
  /// What the slices of dimension 0 are multiplied by, too; empty: by nothing.
  std::vector<float> scales = {};

  /// Short codes of weights that are these, or some of them and zeros; nullopt for none.
  std::optional<FloatCode> float_code(const Codes& weights) const;
  /// Those that there are, or that may come.
  Interval range() const;
  /// Gives the codes the least type that holds them.
  void fit(int frac);
  void negate();
};

/// What is added to products, at the binary point of the accumulator.
struct Summands {
  std::vector<Wide> codes;  ///< empty if all are 0 and stay so
  std::optional<Interval> any = std::nullopt;

  Interval range() const;
  /// Bits of all that may come; 0 where these are the only ones.
  int width() const;
};

/// Refuses constants that another checkpoint may replace, but that are not codes in a memory.
void check_fixed(const Constants& constants);

}  // namespace mase::integer
