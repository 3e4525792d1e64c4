// SPDX-License-Identifier: Apache-2.0
// Finds the period of a function from its increments. A function whose increments repeat is a sum
// of a line and of one floor for each place in the period at which it grows otherwise.
#include "pt2/export/size_functions.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/text.hpp"

namespace mase::pt2 {
namespace {

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// The increment that most places of a period have; the smallest one of several.
std::int64_t usual(std::span<const std::int64_t> increments) {
  std::map<std::int64_t, int> counts;
  for (const std::int64_t one : increments) ++counts[one];
  return std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; })->first;
}

bool repeats(std::span<const std::int64_t> increments, std::size_t period) {
  for (std::size_t i = period; i < increments.size(); ++i)
    if (increments[i] != increments[i - period]) return false;
  return true;
}

std::string joined(std::string_view function, const std::vector<std::string>& parts) {
  return parts.size() == 1 ? parts[0] : std::string(function) + "(" + join(parts, ", ") + ")";
}

}  // namespace

std::string integer_text(std::int64_t value) { return "Integer(" + std::to_string(value) + ")"; }

std::string sum_text(const std::vector<std::string>& terms) { return joined("Add", terms); }

std::string product_text(const std::vector<std::string>& factors) { return joined("Mul", factors); }

std::int64_t SizeFunction::operator()(std::int64_t x) const {
  std::int64_t value = slope * x + offset;
  for (const Step& step : steps) value += step.factor * floor_quotient(x + step.shift, period);
  return value;
}

std::int64_t SizeFunction::content() const {
  std::int64_t common = std::gcd(slope, offset);
  for (const Step& step : steps) common = std::gcd(common, step.factor);
  return std::max<std::int64_t>(common, 1);
}

std::string SizeFunction::text(const std::string& symbol, std::int64_t divisor) const {
  std::vector<std::string> terms;
  const auto add = [&](std::int64_t factor, const std::string& what) {
    factor /= divisor;
    if (factor == 1)
      terms.push_back(what);
    else if (factor != 0)
      terms.push_back(product_text({integer_text(factor), what}));
  };
  add(slope, symbol);
  for (const Step& step : steps) {
    const std::string shifted =
        step.shift == 0 ? symbol : sum_text({symbol, integer_text(step.shift)});
    add(step.factor, "FloorDiv(" + shifted + ", " + integer_text(period) + ")");
  }
  if (offset != 0 || terms.empty()) terms.push_back(integer_text(offset / divisor));
  return sum_text(terms);
}

std::optional<SizeFunction> fit_sizes(std::span<const std::int64_t> values, std::int64_t first) {
  std::vector<std::int64_t> increments;
  for (std::size_t i = 1; i < values.size(); ++i) increments.push_back(values[i] - values[i - 1]);
  std::size_t period = 1;
  while (period * 2 <= increments.size() && !repeats(increments, period)) ++period;
  if (period * 2 > increments.size()) return std::nullopt;
  SizeFunction function;
  function.period = static_cast<std::int64_t>(period);
  const std::span once(increments.data(), period);
  function.slope = usual(once);
  for (std::size_t i = 0; i < period; ++i) {
    if (once[i] == function.slope) continue;
    // The floor grows between first + i and the next number.
    const std::int64_t next = first + static_cast<std::int64_t>(i) + 1;
    const std::int64_t shift = (function.period - next % function.period) % function.period;
    function.steps.push_back({once[i] - function.slope, shift});
  }
  function.offset = values[0] - function(first);
  return function;
}

}  // namespace mase::pt2
