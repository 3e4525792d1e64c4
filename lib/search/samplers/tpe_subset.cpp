// SPDX-License-Identifier: Apache-2.0
// Greedy hypervolume subset selection always takes the point that adds most.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "search/samplers/tpe_split.hpp"

namespace mase::samplers {
namespace {

double box(const Point& corner, const Point& reference) {
  double volume = 1;
  for (std::size_t j = 0; j < corner.size(); ++j) volume *= reference[j] - corner[j];
  return volume;
}

/// The indices of the points in lexicographic order, with only the first of equal points.
std::vector<std::size_t> unique_order(std::span<const Point> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  order.erase(std::unique(order.begin(), order.end(),
                          [&](std::size_t a, std::size_t b) { return points[a] == points[b]; }),
              order.end());
  return order;
}

/// All different points and, until there are `count`, the first of the repeated ones, in order.
std::vector<std::size_t> with_repeated(std::size_t total, std::span<const std::size_t> different,
                                       std::size_t count) {
  std::vector<bool> chosen(total, false);
  for (std::size_t i : different) chosen[i] = true;
  std::size_t missing = count - different.size();
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < total; ++i)
    if (chosen[i] || (missing > 0 && missing-- > 0)) out.push_back(i);
  return out;
}

/// The contributions of points on a front of two objectives, sorted by the first one. Each is a
/// rectangle that extends to the chosen neighbours on both sides, or to the reference.
class Staircase {
 public:
  Staircase(std::vector<Point> points, const Point& reference)
      : points_(std::move(points)), corner_(points_.size(), reference) {}

  double contribution(std::size_t i) const { return box(points_[i], corner_[i]); }
  void choose(std::size_t chosen) {
    for (std::size_t i = 0; i < chosen; ++i)
      corner_[i][0] = std::min(corner_[i][0], points_[chosen][0]);
    for (std::size_t i = chosen + 1; i < points_.size(); ++i)
      corner_[i][1] = std::min(corner_[i][1], points_[chosen][1]);
  }

 private:
  std::vector<Point> points_, corner_;
};

/// The same for any number of objectives. Contributions only decrease as points are chosen, so an
/// old one is a bound, and most need not be recomputed.
class Contributions {
 public:
  Contributions(std::vector<Point> points, const Point& reference)
      : points_(std::move(points)), reference_(reference) {
    for (const Point& point : points_) bound_.push_back(box(point, reference));
  }

  double contribution(std::size_t i) const { return bound_[i]; }

  void choose(std::size_t chosen) {
    volume_ += bound_[chosen];
    chosen_.push_back(points_[chosen]);
    bound_[chosen] = -std::numeric_limits<double>::infinity();
    std::vector<std::size_t> order(points_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return bound_[a] > bound_[b]; });
    double best = 0;
    for (std::size_t i : order) {
      if (bound_[i] < best) break;
      chosen_.push_back(points_[i]);
      bound_[i] = hypervolume(chosen_, reference_) - volume_;
      chosen_.pop_back();
      best = std::max(best, bound_[i]);
    }
  }

 private:
  std::vector<Point> points_, chosen_;
  const Point& reference_;
  std::vector<double> bound_;
  double volume_ = 0;
};

template <class Volumes>
std::vector<std::size_t> greedy(Volumes volumes, std::size_t total, std::size_t count) {
  std::vector<std::size_t> left(total), out;
  std::iota(left.begin(), left.end(), std::size_t{0});
  while (out.size() < count) {
    const auto best = std::max_element(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
      return volumes.contribution(a) < volumes.contribution(b);
    });
    out.push_back(*best);
    left.erase(best);
    if (out.size() < count) volumes.choose(out.back());
  }
  return out;
}

}  // namespace

std::vector<std::size_t> hypervolume_subset(std::span<const Point> points, std::size_t count,
                                            const Point& reference) {
  const std::vector<std::size_t> order = unique_order(points);
  if (order.size() <= count) return with_repeated(points.size(), order, count);
  const bool finite = std::all_of(reference.begin(), reference.end(),
                                  [](double value) { return std::isfinite(value); });
  if (!finite) return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)};
  std::vector<Point> different;
  for (std::size_t i : order) different.push_back(points[i]);
  std::vector<std::size_t> out =
      reference.size() == 2
          ? greedy(Staircase(std::move(different), reference), order.size(), count)
          : greedy(Contributions(std::move(different), reference), order.size(), count);
  for (std::size_t& i : out) i = order[i];
  return out;
}

}  // namespace mase::samplers
