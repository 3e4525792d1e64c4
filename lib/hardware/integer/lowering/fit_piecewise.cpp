// SPDX-License-Identifier: Apache-2.0
// The line of least largest error in each segment, and the fewest segments that are close enough.
#include "hardware/integer/lowering/fit_piecewise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "hardware/integer/lowering/best_line.hpp"

namespace mase::integer {
namespace {

/// The largest error of the results in one segment, in units of the last place.
double largest_error(std::span<const double> places, const Line& line,
                     const Requantise& requantise) {
  double largest = 0;
  for (std::size_t l = 0; l < places.size(); ++l) {
    const Wide result = requantise(line.base + Wide{line.slope} * static_cast<Wide>(l));
    largest = std::max(largest, std::abs(static_cast<double>(result) - places[l]));
  }
  return largest;
}

std::vector<Point> points_of(std::span<const double> places) {
  std::vector<Point> points;
  for (const double place : places) points.push_back({std::ssize(points), place});
  return points;
}

/// Appends segments until one is off by more than `most`.
void append_lines(const PiecewiseTarget& target, const Requantise& requantise, double most,
                  Piecewise& table) {
  const std::span<const double> places(target.places);
  const std::size_t length = std::size_t{1} << table.low_bits;
  for (std::size_t first = 0; first < places.size() && table.largest_error <= most;
       first += length) {
    const auto part = places.subspan(first, length);
    const Line line = best_line(points_of(part), target.range, requantise.shift);
    table.slope.push_back(line.slope);
    table.base.push_back(line.base);
    table.largest_error = std::max(table.largest_error, largest_error(part, line, requantise));
  }
}

}  // namespace

FittedPiecewise fit_piecewise(const PiecewiseTarget& target) {
  const int width = std::bit_width(target.places.size()) - 1;
  const int most_bits = std::min(most_segment_bits, width - 1);
  for (int bits = 1;; ++bits) {
    const bool last = bits == most_bits;
    FittedPiecewise fitted{{{target.function, width - bits}}, width - bits + guard_bits};
    append_lines(target, piecewise_requantise(fitted.frac, target.range),
                 last ? std::numeric_limits<double>::infinity() : target.most_error, fitted.table);
    if (!last && fitted.table.largest_error > target.most_error) continue;
    const auto [low, high] = std::ranges::minmax(fitted.table.slope);
    fitted.table.slope_type = type_for(low, high, 0);
    return fitted;
  }
}

}  // namespace mase::integer
