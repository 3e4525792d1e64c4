// SPDX-License-Identifier: Apache-2.0
// Constants: lists of codes in a step that are memories or parameters of its hardware. A step
// declares them once, by a function that shows each list with the bits that its codes have.
#pragma once

#include <optional>
#include <vector>

#include "hardware/integer/fixed.hpp"
#include "hardware/integer/float_code.hpp"
#include "hardware/integer/program/codes.hpp"

namespace mase::integer {

/// Which constants of a step: those that are multiplied (or how far is shifted), those that are
/// added, or a table.
enum class ConstantKind { factor, summand, entry };

/// All constants of one kind, numbers of `width` bits, two's complement where they are signed.
template <class List>
struct ConstantList {
  ConstantKind kind;
  List& codes;
  int width;
  bool is_signed;
  std::optional<FloatCode> code = std::nullopt;  ///< in which hardware has the numbers
};

template <class List>
ConstantList<List> factors(List& codes, const FixedType& type,
                           const std::optional<FloatCode>& code = std::nullopt) {
  const FixedType stored = code ? code->type() : type;
  return {ConstantKind::factor, codes, stored.width, stored.is_signed, code};
}

/// `width`: of all that may come, or 0.
template <class List>
ConstantList<List> summands(List& codes, int width) {
  return {ConstantKind::summand, codes, width > 0 ? width : codes_width(codes), true};
}

/// Distances of shifts, as wide as mase_channel_shift reads them.
template <class List>
ConstantList<List> distances(List& left) {
  return {ConstantKind::factor, left, codes_width({left.begin(), left.end()}) - 1, false};
}

/// Codes of the step's output.
template <class List>
ConstantList<List> entries(List& codes, const FixedType& output) {
  return {ConstantKind::entry, codes, output.width, output.is_signed};
}

/// The declaration of a step without constants.
struct NoConstants {
  template <class Step, class See>
  void operator()(Step&, const FixedType&, See&&) const {}
};

}  // namespace mase::integer
