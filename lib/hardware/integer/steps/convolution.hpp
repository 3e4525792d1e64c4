// SPDX-License-Identifier: Apache-2.0
// Convolutions with constant weights.
#pragma once

#include "hardware/integer/program/window.hpp"
#include "hardware/integer/steps/block_input.hpp"
#include "hardware/integer/steps/constant_matrix.hpp"
#include "hardware/integer/steps/declarations.hpp"

namespace mase::integer {

/// Cross-correlation; group g maps channels/groups inputs to outputs/groups outputs. Padding is
/// code 0. Depthwise: groups = channels.
struct Convolution {
  Window window;
  std::int64_t outputs = 0, groups = 1;
  FixedType weight_type;
  Codes weight;            ///< [outputs][kernel_height][kernel_width][channels / groups]
  std::vector<Wide> bias;  ///< [outputs]; empty without
  int bias_width = 0;      ///< as a linear's
  /// How memories code the weights; nullopt: as they are.
  std::optional<FloatCode> weight_code = std::nullopt;
  BlockInput blocks = {};  ///< whose length divides `taps()`

  std::int64_t taps() const { return window.channels / groups; }     ///< per place of the kernel
  std::int64_t columns() const { return window.kernel() * taps(); }  ///< weights of one output

  bool is_depthwise() const { return groups == window.channels && groups == outputs && groups > 1; }

  std::string_view step_kind() const { return is_depthwise() ? "depthwise" : "convolution"; }
  /// Also where a channel has several outputs, which hardware computes as any convolution.
  std::string_view name() const {
    return groups == window.channels && groups > 1 ? "depthwise" : "convolution";
  }
  std::string details() const {
    return weights_text(weight_type, weight_code) + " " + window_text(window) + " groups " +
           std::to_string(groups) + blocks.text();
  }
  static constexpr bool only_moves = false;
  static constexpr bool decodes_inputs = true;
  std::int64_t products() const { return columns(); }
  ConstantMatrix matrix() const {
    return {groups, outputs, columns(), weight_type, weight, weight_code, bias, bias_width};
  }
  static constexpr CastBehind cast_behind = CastBehind::merges;

  template <class Self, class See>
  static void constants(Self& self, const FixedType&, See&& see) {
    see(factors(self.weight, self.weight_type, self.weight_code));
    see(summands(self.bias, self.bias_width));
  }
  static constexpr bool replaceable = true;
  std::optional<Interval> bounds(const Interval& input) const {
    return matrix_interval(weight, columns(), bias, input);
  }

  static constexpr SumsInAccumulator sum_bits{};

  template <class Sum>
  void run(const Frame<Sum>& frame) const {
    std::int64_t i = 0;
    window.for_each_place([&](std::int64_t y, std::int64_t x) {
      for (std::int64_t o = 0; o < outputs; ++o) frame.put(i++, correlate(frame, y, x, o));
    });
  }

 private:
  template <class Sum>
  Sum correlate(const Frame<Sum>& frame, std::int64_t y, std::int64_t x, std::int64_t o) const {
    const std::int64_t count = taps(), first = o / (outputs / groups) * count;
    Sum sum = bias.empty() ? Sum{0} : static_cast<Sum>(bias[at(o)]);
    window.for_each_tap(y, x, [&](std::int64_t pixel, std::int64_t k) {
      const std::int64_t* factor = weight.data() + (o * window.kernel() + k) * count;
      const std::int64_t element = pixel * window.channels + first;
      for (std::int64_t c = 0; c < count; ++c)
        sum += static_cast<Sum>(factor[c]) * static_cast<Sum>(blocks(frame, element + c));
    });
    return sum;
  }
};

}  // namespace mase::integer
