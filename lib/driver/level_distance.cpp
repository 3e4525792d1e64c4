// SPDX-License-Identifier: Apache-2.0
// Collects differences, and says what they may come from.
#include "driver/level_distance.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "base/text.hpp"

namespace mase::driver {

void LevelDistance::add(const Array& quantized, const Array& integer) {
  const Array a = quantized.to_float32(), b = integer.to_float32();
  for (std::size_t i = 0; i < a.span<float>().size(); ++i) {
    const double x = a.span<float>()[i];
    differences_.push_back(std::fabs(x - b.span<float>()[i]));
    largest_ = std::max(largest_, differences_.back());
    scale_ = std::max(scale_, std::fabs(x));
  }
}

double LevelDistance::share_beyond(double part) const {
  if (differences_.empty()) return 0;
  const auto beyond = std::ranges::count_if(
      differences_, [&](double difference) { return difference > part * scale_; });
  return static_cast<double>(beyond) / static_cast<double>(differences_.size());
}

std::string LevelDistance::text() const {
  return "the level integer, which hardware computes, differs from the level quantized in " +
         fixed_text(100 * share_beyond(0), 1) + " % of the results, by at most " +
         double_text(largest_) + " of " + double_text(scale_);
}

bool approximates(const integer::Program& program) {
  return std::ranges::any_of(program.steps, [](const integer::Step& step) {
    return std::holds_alternative<integer::Divide>(step.operation) ||
           std::holds_alternative<integer::SquareRoot>(step.operation) ||
           integer::approximation(step.operation).has_value();
  });
}

}  // namespace mase::driver
