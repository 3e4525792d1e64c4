// SPDX-License-Identifier: Apache-2.0
// Lines of least largest error. For a slope a the best line y = a*l + b through points t[l] leaves
// the residuals t[l] - a*l of least and greatest value equally far away, so that its error is half
// of their distance. This distance is convex in a: the best integer slope is where it stops
// falling.
//
// A point that lies on a bound of the output bounds a line from one side only, since what passes
// the bound becomes it: kinks where a function saturates cost no segments, and tails that are
// constant have slope 0.
#include "hardware/integer/lowering/fit_piecewise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

namespace mase::integer {
namespace {

/// A slope that is off by half a unit moves the end of its segment by 2^-4 of the last place.
constexpr int guard_bits = 3;

/// Base and slope in units of 2^-frac of the output's last place.
struct Line {
  std::int64_t slope = 0;
  Wide base = 0;
};

/// The results in one segment.
class Points {
 public:
  Points(std::span<const double> places, const Interval& range, int frac)
      : places_(places),
        low_(static_cast<double>(range.low)),
        high_(static_cast<double>(range.high)),
        frac_(frac) {}

  Line best_line() const {
    const auto [least, greatest] = std::ranges::minmax(places_);
    if (least == greatest || greatest <= low_) return line(0, greatest);
    if (least >= high_) return line(0, high_);
    const std::int64_t slope = best_slope();
    const Residuals left = residuals(slope);
    return line(slope, (left.least + left.greatest) / 2);
  }

 private:
  /// The greatest of points above the lower bound, which a line must not pass far below, and the
  /// least of those below the upper one.
  struct Residuals {
    double least = std::numeric_limits<double>::infinity(), greatest = -least;
    double distance() const { return std::max(0.0, greatest - least); }
  };

  Residuals residuals(std::int64_t slope) const {
    const double step = std::ldexp(static_cast<double>(slope), -frac_);
    Residuals found;
    for (std::size_t l = 0; l < places_.size(); ++l) {
      const double residual = places_[l] - step * static_cast<double>(l);
      if (places_[l] > low_) found.greatest = std::max(found.greatest, residual);
      if (places_[l] < high_) found.least = std::min(found.least, residual);
    }
    return found;
  }

  double distance(std::int64_t slope) const { return residuals(slope).distance(); }

  /// The greatest difference of neighbours: no better line is steeper.
  std::int64_t steepest() const {
    double most = 0;
    for (std::size_t l = 1; l < places_.size(); ++l)
      most = std::max(most, std::abs(places_[l] - places_[l - 1]));
    return static_cast<std::int64_t>(std::ceil(std::ldexp(most, frac_)));
  }

  /// The flattest of the best slopes.
  std::int64_t best_slope() const {
    const std::int64_t sign = distance(1) < distance(0) ? 1 : -1;
    std::int64_t low = 0, high = steepest();
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      const bool falls = distance(sign * (middle + 1)) < distance(sign * middle);
      (falls ? low : high) = falls ? middle + 1 : middle;
    }
    return sign * low;
  }

  /// With the half that makes rounding down rounding to nearest.
  Line line(std::int64_t slope, double base) const {
    return {slope, static_cast<Wide>(std::floor(std::ldexp(base + 0.5, frac_) + 0.5))};
  }

  std::span<const double> places_;
  double low_, high_;
  int frac_;
};

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

/// Appends segments until one is off by more than `most`.
void append_lines(const PiecewiseTarget& target, const Requantise& requantise, double most,
                  Piecewise& table) {
  const std::span<const double> places(target.places);
  const std::size_t length = std::size_t{1} << table.low_bits;
  for (std::size_t first = 0; first < places.size() && table.largest_error <= most;
       first += length) {
    const auto part = places.subspan(first, length);
    const Line line = Points(part, target.range, requantise.shift).best_line();
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
    FittedPiecewise fitted{{target.function, width - bits}, width - bits + guard_bits};
    append_lines(target, piecewise_requantise(fitted.frac, target.range),
                 last ? std::numeric_limits<double>::infinity() : target.most_error, fitted.table);
    if (!last && fitted.table.largest_error > target.most_error) continue;
    const auto [low, high] = std::ranges::minmax(fitted.table.slope);
    fitted.table.slope_type = type_for(low, high, 0);
    return fitted;
  }
}

Requantise piecewise_requantise(int frac, const Interval& range) {
  return {frac, 1, formats::Rounding::floor, range.low, range.high};
}

}  // namespace mase::integer
