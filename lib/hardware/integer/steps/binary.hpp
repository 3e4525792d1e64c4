// SPDX-License-Identifier: Apache-2.0
// Two streams, element by element.
#pragma once

#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// What is done with two streams, element by element.
enum class BinaryKind { add, subtract, multiply, maximum, minimum };
/// (a << shift_a) op (b << shift_b), brought to the finer fraction; multiply: a * b without shifts.
struct Binary {
  BinaryKind kind = BinaryKind::add;
  int shift_a = 0, shift_b = 0;

  /// Calls `use` with the function of two operands, which are shifted already.
  template <class Use>
  void with_function(Use&& use) const {
    switch (kind) {
      case BinaryKind::add:
        return use([](auto a, auto b) { return a + b; });
      case BinaryKind::subtract:
        return use([](auto a, auto b) { return a - b; });
      case BinaryKind::multiply:
        return use([](auto a, auto b) { return a * b; });
      case BinaryKind::maximum:
        return use([](auto a, auto b) { return a > b ? a : b; });
      case BinaryKind::minimum:
        return use([](auto a, auto b) { return a < b ? a : b; });
    }
  }

  std::string_view step_kind() const { return "binary"; }
  std::string_view name() const {
    switch (kind) {
      case BinaryKind::add:
        return "add";
      case BinaryKind::subtract:
        return "subtract";
      case BinaryKind::multiply:
        return "multiply";
      case BinaryKind::maximum:
        return "maximum";
      case BinaryKind::minimum:
        return "minimum";
    }
    return "";
  }
  std::string details() const {
    return "<< " + std::to_string(shift_a) + ", " + std::to_string(shift_b);
  }
  static constexpr bool only_moves = false;
  std::int64_t products() const { return kind == BinaryKind::multiply ? 1 : 0; }
  static constexpr CastBehind cast_behind = CastBehind::merges;
  static constexpr NoConstants constants{};

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    const Sum unit_a = Sum{1} << shift_a, unit_b = Sum{1} << shift_b;
    with_function([&](auto function) {
      frame.fill([&](std::int64_t i) {
        return function(frame.in(0)[i] * unit_a, frame.in(1)[i] * unit_b);
      });
    });
  }
};

}  // namespace mase::integer
