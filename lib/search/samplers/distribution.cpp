// SPDX-License-Identifier: Apache-2.0
// Values, encodings and compatibility of the three kinds of distribution.
#include "search/samplers/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace mase::samplers {
namespace {

/// Most steps are decimal fractions, so a quotient this close to an integer counts as an integer.
constexpr double step_tolerance = 1e-8;

bool is_integral(double value) { return std::nearbyint(value) == value && std::isfinite(value); }

/// Whether Python would compare them as equal: 1 and 1.0 are equal (but true is not a number here).
bool same_choice(const Tree& a, const Tree& b) {
  return a == b || (a.is_number() && b.is_number() && a.as_double() == b.as_double());
}

bool in_steps(const FloatDistribution& d, double value) {
  const double steps = (value - d.low) / *d.step;
  return std::abs(steps - std::nearbyint(steps)) < step_tolerance;
}

}  // namespace

Tree external_value(const Distribution& distribution, double internal) {
  if (std::holds_alternative<FloatDistribution>(distribution)) return internal;
  if (std::holds_alternative<IntDistribution>(distribution))
    return static_cast<std::int64_t>(internal);
  const auto& choices = std::get<CategoricalDistribution>(distribution).choices;
  MASE_CHECK(contains(distribution, internal), "an index is outside of the list of choices");
  return choices[static_cast<std::size_t>(internal)];
}

std::optional<double> internal_value(const Distribution& distribution, const Tree& external) {
  if (const auto* categorical = std::get_if<CategoricalDistribution>(&distribution)) {
    const auto& choices = categorical->choices;
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const Tree& choice) {
      return same_choice(choice, external);
    });
    if (found == choices.end()) return std::nullopt;
    return static_cast<double>(found - choices.begin());
  }
  if (!external.is_number() || !contains(distribution, external.as_double())) return std::nullopt;
  return external.as_double();
}

bool contains(const Distribution& distribution, double internal) {
  if (const auto* d = std::get_if<FloatDistribution>(&distribution))
    return d->low <= internal && internal <= d->high && (!d->step || in_steps(*d, internal));
  if (!is_integral(internal)) return false;
  if (const auto* d = std::get_if<IntDistribution>(&distribution))
    return static_cast<double>(d->low) <= internal && internal <= static_cast<double>(d->high) &&
           std::fmod(internal - static_cast<double>(d->low), static_cast<double>(d->step)) == 0;
  const auto& choices = std::get<CategoricalDistribution>(distribution).choices;
  return 0 <= internal && internal < static_cast<double>(choices.size());
}

std::optional<std::int64_t> cardinality(const Distribution& distribution) {
  if (const auto* d = std::get_if<FloatDistribution>(&distribution)) {
    if (!d->step) return std::nullopt;
    const double steps = std::floor((d->high - d->low) / *d->step + step_tolerance);
    return static_cast<std::int64_t>(std::min(steps, 0x1p62)) + 1;
  }
  if (const auto* d = std::get_if<IntDistribution>(&distribution)) {
    // The difference of two int64 fits in uint64 only.
    const auto span = static_cast<std::uint64_t>(d->high) - static_cast<std::uint64_t>(d->low);
    const std::uint64_t steps = span / static_cast<std::uint64_t>(d->step);
    constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(steps, limit - 1)) + 1;
  }
  return static_cast<std::int64_t>(std::get<CategoricalDistribution>(distribution).choices.size());
}

double value_at(const Distribution& distribution, std::int64_t index) {
  if (const auto* d = std::get_if<FloatDistribution>(&distribution)) {
    MASE_CHECK(d->step.has_value(), "a float without step has no index-th value");
    return std::min(d->low + static_cast<double>(index) * *d->step, d->high);
  }
  if (const auto* d = std::get_if<IntDistribution>(&distribution))
    return static_cast<double>(d->low + index * d->step);
  return static_cast<double>(index);
}

bool compatible(const Distribution& a, const Distribution& b) {
  if (a.index() != b.index()) return false;
  if (const auto* d = std::get_if<FloatDistribution>(&a))
    return d->log == std::get<FloatDistribution>(b).log;
  if (const auto* d = std::get_if<IntDistribution>(&a))
    return d->log == std::get<IntDistribution>(b).log;
  const auto& first = std::get<CategoricalDistribution>(a).choices;
  const auto& second = std::get<CategoricalDistribution>(b).choices;
  return std::equal(first.begin(), first.end(), second.begin(), second.end(), same_choice);
}

}  // namespace mase::samplers
