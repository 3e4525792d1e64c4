// SPDX-License-Identifier: Apache-2.0
// Products with a constant matrix.
#pragma once

#include "hardware/integer/steps/block_input.hpp"
#include "hardware/integer/steps/constant_matrix.hpp"
#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// y[o] = sum_i weight[o][i] * x[i] + bias[o] on every row of `inputs` elements.
struct Linear {
  std::int64_t inputs = 0, outputs = 0;
  FixedType weight_type;
  Codes weight;            ///< [outputs][inputs], inputs in stream order
  std::vector<Wide> bias;  ///< [outputs], aligned to the accumulator; empty without
  int bias_width = 0;      ///< bits of every bias that may come; 0: of those that are there
  /// How memories code the weights; nullopt: as they are.
  std::optional<FloatCode> weight_code = std::nullopt;
  BlockInput blocks = {};  ///< whose length divides `inputs`

  std::string_view step_kind() const { return "linear"; }
  std::string_view name() const { return step_kind(); }
  std::string details() const { return weights_text(weight_type, weight_code) + blocks.text(); }
  static constexpr bool only_moves = false;
  static constexpr bool decodes_inputs = true;
  std::int64_t products() const { return inputs; }
  ConstantMatrix matrix() const {
    return {1, outputs, inputs, weight_type, weight, weight_code, bias, bias_width};
  }
  static constexpr CastBehind cast_behind = CastBehind::merges;

  template <class Self, class See>
  static void constants(Self& self, const FixedType&, See&& see) {
    see(factors(self.weight, self.weight_type, self.weight_code));
    see(summands(self.bias, self.bias_width));
  }
  static constexpr bool replaceable = true;
  std::optional<Interval> bounds(const Interval& input) const {
    return matrix_interval(weight, inputs, bias, input);
  }

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    frame.fill([&](std::int64_t o) {
      const std::int64_t row = o / outputs, output = o % outputs;
      Sum sum = bias.empty() ? Sum{0} : static_cast<Sum>(bias[at(output)]);
      for (std::int64_t i = 0; i < inputs; ++i)
        sum += static_cast<Sum>(weight[at(output * inputs + i)]) *
               static_cast<Sum>(blocks(frame, row * inputs + i));
      return sum;
    });
  }
};

}  // namespace mase::integer
