// SPDX-License-Identifier: Apache-2.0
// The reference directions of NSGA-III (Deb & Jain 2014), and the nearest direction for each
// point.
#pragma once

#include <vector>

#include "search/samplers/pareto.hpp"

namespace mase::samplers {

/// All points with coordinates k / divisions (k a non-negative integer) whose sum is 1 (Das &
/// Dennis 1998). Error(Fault::config) if there would be more than 100000.
std::vector<Point> reference_points(std::size_t objectives, int divisions);

/// Normalises points: the ideal point moves to the origin, and the intercepts of the plane through
/// the extreme points to 1. If these points do not span such a plane, the worst value of each
/// objective takes its place. Infinities count as three extents beyond the finite values.
std::vector<Point> normalised(std::vector<Point> points);

/// The nearest reference direction of a point.
struct Association {
  std::size_t direction;  ///< index of the nearest line from the origin through a reference point
  double distance;        ///< perpendicular distance
};
std::vector<Association> associate(const std::vector<Point>& points,
                                   const std::vector<Point>& directions);

}  // namespace mase::samplers
