// SPDX-License-Identifier: Apache-2.0
// Distances against values computed by hand.
#include "data/distance.hpp"

#include <cmath>
#include <limits>

#include "files.hpp"

using namespace mase;
using namespace mase::data;
using Catch::Contains;
using mase::test::message_of;

TEST_CASE("the distance of a hand-made pair") {
  Distance distance;
  // x = (3, 4), y = (3, 5), in two batches: signal 25, noise 1, product 29, values 34.
  distance.add(Array::from<float>({3}, {1}), Array::from<float>({3}, {1}));
  distance.add(Array::from<float>({4}, {1}), Array::from<float>({5}, {1}));
  CHECK(distance.elements == 2);
  CHECK(distance.sqnr_db() == Approx(10 * std::log10(25.0)));
  CHECK(distance.cosine() == Approx(29 / std::sqrt(25.0 * 34.0)));
  CHECK(distance.rms() == Approx(std::sqrt(0.5)));
  CHECK(distance.worst == 1.0);
}

TEST_CASE("equal values have an infinite SQNR and the cosine 1") {
  Distance distance;
  const float minus_infinity = -std::numeric_limits<float>::infinity();
  const Array values = Array::from<float>({0, 0, minus_infinity}, {3});
  distance.add(values, values);
  CHECK(std::isinf(distance.sqnr_db()));
  CHECK(distance.cosine() == 1.0);
  CHECK(distance.worst == 0.0);
}

TEST_CASE("values opposite to the reference have the cosine -1") {
  Distance distance;
  distance.add(Array::from<float>({1, -2}, {2}), Array::from<float>({-1, 2}, {2}));
  CHECK(distance.cosine() == Approx(-1.0));
}

TEST_CASE("another shape, and a value that only one of two has, are refused") {
  Distance distance;
  CHECK_THAT(
      message_of(
          Fault::file,
          [&] {
            distance.add(Array::from<float>({1, 2}, {2}), Array::from<float>({1, 2}, {1, 2}));
          }),
      Contains("shape"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(
      message_of(
          Fault::file,
          [&] { distance.add(Array::from<float>({1}, {1}), Array::from<float>({nan}, {1})); }),
      Contains("nan"));
}
