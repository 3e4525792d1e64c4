// SPDX-License-Identifier: Apache-2.0
// Functions of wide inputs: straight pieces against what is known of their errors.
#include <algorithm>
#include <catch2/catch.hpp>

#include "hardware/integer/piecewise.hpp"

using namespace mase;
using namespace mase::integer;

namespace {

PiecewiseTarget parabola(int width, double curvature) {
  PiecewiseTarget target{"parabola", {}, {0, 1 << 20}, 1.0};
  for (int x = 0; x < 1 << width; ++x) target.places.push_back(curvature * x * x);
  return target;
}

}  // namespace

TEST_CASE("a line through a parabola is off by an eighth of its curvature, as Chebyshev has it") {
  for (const int low_bits : {3, 5}) {
    // Over L points t = c*x^2 is off by c * (L - 1)^2 / 8 around its best line.
    const double length = (1 << low_bits) - 1, error = 0.4;
    PiecewiseTarget target = parabola(8, 8 * error / (length * length));
    const FittedPieces fitted = fit_pieces(target);
    CHECK(fitted.table.low_bits == low_bits);
    CHECK(fitted.table.slope.size() == std::size_t{1} << (8 - low_bits));
    // Rounding to a place adds half, an integer slope a sixteenth at both ends of its segment.
    CHECK(fitted.table.largest_error > error);
    CHECK(fitted.table.largest_error <= 0.5 + error + 0.0625);
  }
}

TEST_CASE("what a function is beyond its bounds costs no segments") {
  PiecewiseTarget target{"clamp", {}, {-100, 90}, 0.5};
  for (int x = 0; x < 1 << 14; ++x) target.places.push_back(std::clamp(0.5 * x - 1000, -100., 90.));
  const FittedPieces fitted = fit_pieces(target);
  CHECK(fitted.table.slope.size() == 2);
  CHECK(fitted.table.largest_error <= 0.5);
  // Behind the upper bound nothing rises.
  CHECK(fitted.table.slope[1] == 0);
}
