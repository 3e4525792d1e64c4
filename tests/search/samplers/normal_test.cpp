// SPDX-License-Identifier: Apache-2.0
// Normal probabilities against SciPy 1.17 (scipy.special.log_ndtr, ndtri) and against each other.
#include "search/samplers/normal.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace mase::samplers;

TEST_CASE("logarithms of the normal distribution are SciPy's, in the far tail too") {
  REQUIRE(log_normal_cdf(-40) == Approx(-804.6084420137539).epsilon(1e-14));
  REQUIRE(log_normal_cdf(-36) == Approx(-652.5032275937986).epsilon(1e-14));
  REQUIRE(log_normal_cdf(-5) == Approx(-15.064998393988727).epsilon(1e-14));
  REQUIRE(log_normal_cdf(0.5) == Approx(-0.36894641528865635).epsilon(1e-14));
  REQUIRE(log_normal_cdf(8) == Approx(-6.220960574271742e-16).epsilon(1e-12));
}

TEST_CASE("quantiles are SciPy's") {
  REQUIRE(std::abs(normal_quantile(0.5)) < 1e-15);
  REQUIRE(normal_quantile(0.3) == Approx(-0.5244005127080409).epsilon(1e-14));
  REQUIRE(normal_quantile(1e-3) == Approx(-3.090232306167813).epsilon(1e-14));
  REQUIRE(normal_quantile(1e-12) == Approx(-7.034483825301131).epsilon(1e-14));
  REQUIRE(normal_quantile(1e-300) == Approx(-37.0470962993612).epsilon(1e-14));
}

TEST_CASE("the mass of an interval does not depend on the side it is on") {
  for (double a : {-30.0, -3.0, -0.5, 0.0, 0.25, 9.0}) {
    REQUIRE(log_normal_mass(a, a + 1.5) == Approx(log_normal_mass(-a - 1.5, -a)).epsilon(1e-13));
    REQUIRE(log_normal_mass(a, 50) == Approx(log_normal_cdf(-a)).margin(1e-15));
  }
}

TEST_CASE("a truncated quantile has its share of the mass below it") {
  for (double a : {-80.0, -2.0, -0.1, 0.0})
    for (double b : {0.0, 0.3, 4.0, 90.0})
      for (double q : {0.001, 0.25, 0.5, 0.999}) {
        if (a == b) continue;
        const double x = truncated_normal_quantile(q, a, b);
        REQUIRE(a <= x);
        REQUIRE(x <= b);
        REQUIRE(log_normal_mass(a, x) == Approx(std::log(q) + log_normal_mass(a, b)).epsilon(1e-9));
      }
  REQUIRE(truncated_normal_quantile(0, -50, 1) == -50);
}
