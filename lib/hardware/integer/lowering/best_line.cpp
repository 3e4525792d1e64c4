// SPDX-License-Identifier: Apache-2.0
// Lines of least largest error. For a slope a the best line y = a*l + b through points t[l] leaves
// the residuals t[l] - a*l of least and greatest value equally far away, so that its error is half
// of their distance. This distance is convex in a: the best integer slope is where it stops
// falling.
//
// A point that lies on a bound of the output bounds a line from one side only, since what passes
// the bound becomes it: kinks where a function saturates cost no segments, and tails that are
// constant have slope 0.
#include "hardware/integer/lowering/best_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mase::integer {
namespace {

/// The results in one piece.
class Points {
 public:
  Points(std::span<const Point> points, const Interval& range, int frac)
      : points_(points),
        low_(static_cast<double>(range.low)),
        high_(static_cast<double>(range.high)),
        frac_(frac) {}

  Line best_line() const {
    const auto [first, last] = std::ranges::minmax(points_, {}, &Point::place);
    const double least = first.place, greatest = last.place;
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
    for (const Point& point : points_) {
      const double residual = point.place - step * static_cast<double>(point.low);
      if (point.place > low_) found.greatest = std::max(found.greatest, residual);
      if (point.place < high_) found.least = std::min(found.least, residual);
    }
    return found;
  }

  double distance(std::int64_t slope) const { return residuals(slope).distance(); }

  /// The steepest way from a point to the next: no better line is steeper.
  std::int64_t steepest() const {
    double most = 0;
    for (std::size_t i = 1; i < points_.size(); ++i) {
      const std::int64_t run = std::max<std::int64_t>(points_[i].low - points_[i - 1].low, 1);
      const double rise = std::abs(points_[i].place - points_[i - 1].place);
      most = std::max(most, rise / static_cast<double>(run));
    }
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

  std::span<const Point> points_;
  double low_, high_;
  int frac_;
};

}  // namespace

Line best_line(std::span<const Point> points, const Interval& range, int frac) {
  return Points(points, range, frac).best_line();
}

Requantise piecewise_requantise(int frac, const Interval& range) {
  return {frac, 1, formats::Rounding::floor, range.low, range.high};
}

}  // namespace mase::integer
