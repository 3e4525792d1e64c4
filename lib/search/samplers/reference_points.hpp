// SPDX-License-Identifier: Apache-2.0
// Reference directions of NSGA-III (Deb & Jain 2014): where they lie and whom they stand nearest
// to.
#pragma once

#include <vector>

#include "search/samplers/pareto.hpp"

namespace mase::samplers {

/// All points with coordinates k / divisions (k whole, not negative) whose sum is 1 (Das & Dennis
/// 1998). Error(Fault::config) when there would be more than 100000.
std::vector<Point> reference_points(std::size_t objectives, int divisions);

/// Moves the ideal point to the origin and the intercepts of the plane through the extreme points
/// to 1; where those points span no such plane, the worst value of each objective. Infinities count
/// as three extents beyond the finite values.
std::vector<Point> normalised(std::vector<Point> points);

/// The reference direction that a point is nearest to.
struct Association {
  std::size_t direction;  ///< index of the nearest line from the origin through a reference point
  double distance;        ///< perpendicular
};
std::vector<Association> associate(const std::vector<Point>& points,
                                   const std::vector<Point>& directions);

}  // namespace mase::samplers
