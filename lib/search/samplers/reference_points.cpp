// SPDX-License-Identifier: Apache-2.0
// Das-Dennis points, normalisation of objectives, and association of points with directions.
#include "search/samplers/reference_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.hpp"

namespace mase::samplers {

namespace {

constexpr double point_limit = 100000;

/// binomial(objectives + divisions - 1, divisions), as a double that may not be exact above 2^53.
double point_count(std::size_t objectives, int divisions) {
  double count = 1;
  for (int k = 1; k <= divisions; ++k)
    count *= static_cast<double>(objectives + static_cast<std::size_t>(k) - 1) / k;
  return count;
}

/// Appends all ways to distribute `left` parts over the coordinates from `axis` on.
void distribute(Point& point, std::size_t axis, int left, int divisions,
                std::vector<Point>& points) {
  if (axis + 1 == point.size()) {
    point[axis] = static_cast<double>(left) / divisions;
    points.push_back(point);
    return;
  }
  for (int k = 0; k <= left; ++k) {
    point[axis] = static_cast<double>(k) / divisions;
    distribute(point, axis + 1, left - k, divisions, points);
  }
}

/// Makes the infinities of an objective finite, and shifts its smallest value to 0.
void shift_to_origin(std::vector<Point>& points, std::size_t objective) {
  double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
  for (const Point& point : points)
    if (std::isfinite(point[objective])) {
      low = std::min(low, point[objective]);
      high = std::max(high, point[objective]);
    }
  if (low > high) low = high = 0;
  const double margin = 3 * (high - low);
  double least = high + margin;
  for (Point& point : points) {
    point[objective] = std::clamp(point[objective], low - margin, high + margin);
    least = std::min(least, point[objective]);
  }
  for (Point& point : points) point[objective] -= least;
}

/// The point with the smallest achievement value for an axis; all other coordinates weigh 1e6.
const Point& extreme(const std::vector<Point>& points, std::size_t axis) {
  const auto achievement = [&](const Point& point) {
    double worst = 0;
    for (std::size_t i = 0; i < point.size(); ++i)
      worst = std::max(worst, point[i] * (i == axis ? 1.0 : 1e6));
    return worst;
  };
  return *std::min_element(points.begin(), points.end(), [&](const Point& a, const Point& b) {
    return achievement(a) < achievement(b);
  });
}

/// Solves rows * x = 1 by elimination with pivoting; nothing if the rows are linearly dependent.
std::optional<Point> solve_ones(std::vector<Point> rows) {
  const std::size_t n = rows.size();
  for (Point& row : rows) row.push_back(1);
  for (std::size_t k = 0; k < n; ++k) {
    const auto pivot = std::max_element(
        rows.begin() + static_cast<std::ptrdiff_t>(k), rows.end(),
        [&](const Point& a, const Point& b) { return std::fabs(a[k]) < std::fabs(b[k]); });
    if (!(std::fabs((*pivot)[k]) > 1e-12)) return std::nullopt;
    std::swap(*pivot, rows[k]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k; j <= n; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  Point solution(n);
  for (std::size_t k = 0; k < n; ++k) solution[k] = rows[k][n] / rows[k][k];
  return solution;
}

/// The reciprocals of the axis intercepts; nothing if the plane does not cut every axis above 0.
std::optional<Point> inverse_intercepts(const std::vector<Point>& points, const Point& worst) {
  // In units of the worst values, so that the pivots of the elimination are comparable.
  std::vector<Point> rows;
  for (std::size_t axis = 0; axis < worst.size(); ++axis) {
    rows.push_back(extreme(points, axis));
    for (std::size_t i = 0; i < worst.size(); ++i) rows.back()[i] /= worst[i];
  }
  auto inverse = solve_ones(std::move(rows));
  if (!inverse) return std::nullopt;
  for (std::size_t i = 0; i < worst.size(); ++i) {
    (*inverse)[i] /= worst[i];
    if (!((*inverse)[i] > 0) || !std::isfinite((*inverse)[i])) return std::nullopt;
  }
  return inverse;
}

}  // namespace

std::vector<Point> reference_points(std::size_t objectives, int divisions) {
  const double count = point_count(objectives, divisions);
  if (count > point_limit)
    config_error("nsgaiii: dividing_parameter " + std::to_string(divisions) + " with " +
                 std::to_string(objectives) +
                 " objectives gives more than 100000 reference points; use a smaller value");
  std::vector<Point> points;
  Point point(objectives);
  if (objectives > 0) distribute(point, 0, divisions, divisions, points);
  return points;
}

std::vector<Point> normalised(std::vector<Point> points) {
  if (points.empty()) return points;
  Point worst(points[0].size(), 0.0);
  for (std::size_t i = 0; i < worst.size(); ++i) {
    shift_to_origin(points, i);
    for (const Point& point : points) worst[i] = std::max(worst[i], point[i]);
    if (worst[i] == 0) worst[i] = 1;
  }
  Point scale(worst.size());
  std::transform(worst.begin(), worst.end(), scale.begin(), [](double w) { return 1 / w; });
  if (const auto inverse = inverse_intercepts(points, worst)) scale = *inverse;
  for (Point& point : points)
    for (std::size_t i = 0; i < scale.size(); ++i) point[i] *= scale[i];
  return points;
}

std::vector<Association> associate(const std::vector<Point>& points,
                                   const std::vector<Point>& directions) {
  const auto dot = [](const Point& a, const Point& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  std::vector<Association> associations;
  for (const Point& point : points) {
    Association nearest{0, std::numeric_limits<double>::infinity()};
    for (std::size_t d = 0; d < directions.size(); ++d) {
      const double along = dot(point, directions[d]);
      const double squared = dot(point, point) - along * along / dot(directions[d], directions[d]);
      if (squared < nearest.distance) nearest = {d, squared};
    }
    nearest.distance = std::sqrt(std::max(nearest.distance, 0.0));
    associations.push_back(nearest);
  }
  return associations;
}

}  // namespace mase::samplers
