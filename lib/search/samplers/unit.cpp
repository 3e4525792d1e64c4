// SPDX-License-Identifier: Apache-2.0
// Converts shares of the unit interval to values, and back.
#include "search/samplers/unit.hpp"

#include <algorithm>
#include <cmath>

namespace mase::samplers {

namespace {

/// The interval that shares are mapped to, and whether it is logarithmic.
struct Range {
  double low, high;
  bool log;
};

Range range_of(const FloatDistribution& d) {
  if (d.log) return {std::log(d.low), std::log(d.high), true};
  return {d.low, d.high, false};
}

Range range_of(const IntDistribution& d) {
  const auto low = static_cast<double>(d.low), high = static_cast<double>(d.high);
  return {std::log(low - 0.5), std::log(high + 0.5), true};
}

double at(const Range& range, double share) {
  const double place = range.low + share * (range.high - range.low);
  return range.log ? std::exp(place) : place;
}

double share_in(const Range& range, double value) {
  if (range.low == range.high) return 0.5;
  const double place = range.log ? std::log(value) : value;
  return (place - range.low) / (range.high - range.low);
}

}  // namespace

double value_at_share(const Distribution& distribution, double share) {
  if (const auto* d = std::get_if<FloatDistribution>(&distribution); d && !d->step)
    return std::clamp(at(range_of(*d), share), d->low, d->high);
  if (const auto* d = std::get_if<IntDistribution>(&distribution); d && d->log)
    return std::clamp(std::nearbyint(at(range_of(*d), share)), static_cast<double>(d->low),
                      static_cast<double>(d->high));
  const std::int64_t count = *cardinality(distribution);
  const auto index = static_cast<std::int64_t>(share * static_cast<double>(count));
  return value_at(distribution, std::clamp<std::int64_t>(index, 0, count - 1));
}

double share_of(const Distribution& distribution, double value) {
  if (const auto* d = std::get_if<FloatDistribution>(&distribution)) {
    if (!d->step) return share_in(range_of(*d), value);
    return (std::nearbyint((value - d->low) / *d->step) + 0.5) /
           static_cast<double>(*cardinality(distribution));
  }
  if (const auto* d = std::get_if<IntDistribution>(&distribution)) {
    if (d->log) return share_in(range_of(*d), value);
    value = (value - static_cast<double>(d->low)) / static_cast<double>(d->step);
  }
  return (value + 0.5) / static_cast<double>(*cardinality(distribution));
}

}  // namespace mase::samplers
