// SPDX-License-Identifier: Apache-2.0
// Parzen estimators by their meaning: probabilities sum to 1, draws follow them, weights by hand.
#include "search/samplers/parzen.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace mase;
using namespace mase::samplers;

namespace {

const Distribution bits = CategoricalDistribution{{Tree(2), Tree(3), Tree(4)}};
const Distribution log_int = IntDistribution{1, 9, 1, true};
const Distribution quarters = FloatDistribution{0, 1, 0.25, false};

/// Over one or two countable dimensions, after a few observations.
ParzenEstimator example(const std::vector<const Distribution*>& dimensions) {
  Columns observations;
  for (const Distribution* dimension : dimensions)
    observations.push_back({value_at(*dimension, 1), value_at(*dimension, 2),
                            value_at(*dimension, 1), value_at(*dimension, 0)});
  return {dimensions, observations, {1, 1, 1, 0.5}, {}};
}

Columns all_values(const Distribution& a, const Distribution& b) {
  Columns points(2);
  for (std::int64_t i = 0; i < *cardinality(a); ++i)
    for (std::int64_t j = 0; j < *cardinality(b); ++j) {
      points[0].push_back(value_at(a, i));
      points[1].push_back(value_at(b, j));
    }
  return points;
}

}  // namespace

TEST_CASE("the newest 25 observations weigh 1, older ones fall linearly to 1/n") {
  REQUIRE(recency_weights(0).empty());
  REQUIRE(recency_weights(25) == std::vector<double>(25, 1.0));
  REQUIRE(recency_weights(26).front() == Approx(1.0 / 26));
  const auto weights = recency_weights(28);
  REQUIRE(weights[0] == Approx(1.0 / 28));
  REQUIRE(weights[1] == Approx(0.5 + 0.5 / 28));
  REQUIRE(weights[2] == Approx(1.0));
  REQUIRE(weights[27] == 1.0);
}

TEST_CASE("without observations only the prior is left") {
  const ParzenEstimator prior({&bits, &quarters}, Columns(2), {}, {});
  REQUIRE(prior.weights() == std::vector<double>{1.0});
  REQUIRE(prior.log_density({{0}, {0.5}})[0] > prior.log_density({{0}, {0.0}})[0]);
}

TEST_CASE("probabilities of a countable space sum to 1, and draws follow them") {
  const std::vector<std::pair<const Distribution*, const Distribution*>> pairs{
      {&bits, &log_int}, {&quarters, &bits}, {&log_int, &quarters}};
  for (const auto& [a, b] : pairs) {
    const ParzenEstimator estimator = example({a, b});
    const Columns points = all_values(*a, *b);
    const auto log_density = estimator.log_density(points);
    Random random(7);
    constexpr std::size_t count = 40000;
    const Columns drawn = estimator.draw(count, random);
    std::map<std::pair<double, double>, double> frequency;
    for (std::size_t i = 0; i < count; ++i) frequency[{drawn[0][i], drawn[1][i]}] += 1.0 / count;
    double sum = 0;
    for (std::size_t i = 0; i < log_density.size(); ++i) {
      const double p = std::exp(log_density[i]);
      sum += p;
      // Five standard deviations of a binomial share.
      REQUIRE(std::abs(frequency[{points[0][i], points[1][i]}] - p) <
              5 * std::sqrt(p * (1 - p) / count));
    }
    REQUIRE(sum == Approx(1));
  }
}

TEST_CASE("a density over numbers integrates to 1, and draws follow it") {
  const Distribution rate = FloatDistribution{1e-4, 1, std::nullopt, true};
  const ParzenEstimator estimator({&rate}, {{1e-4, 2e-3, 0.1, 0.11}}, {1, 1, 1, 1}, {});
  Random random(3);
  constexpr std::size_t cells = 4000, count = 20000;
  const Columns drawn = estimator.draw(count, random);
  double sum = 0;
  const double extent = std::log(1e4) / cells;  // the density is one over the logarithm
  for (std::size_t i = 0; i < cells; ++i) {
    const double middle = std::log(1e-4) + (static_cast<double>(i) + 0.5) * extent;
    sum += std::exp(estimator.log_density({{std::exp(middle)}})[0]) * extent;
    if ((i + 1) % 500 != 0) continue;
    const double edge = std::exp(middle + 0.5 * extent);
    const auto below = std::count_if(drawn[0].begin(), drawn[0].end(),
                                     [&](double value) { return value <= edge; });
    REQUIRE(std::abs(static_cast<double>(below) / count - sum) < 5 * 0.5 / std::sqrt(count));
  }
  REQUIRE(sum == Approx(1).epsilon(1e-5));
}

TEST_CASE("integers too many for probabilities are compared by density, and drawn whole") {
  for (bool log : {false, true}) {
    const Distribution wide = IntDistribution{1, std::int64_t{1} << 60, 1, log};
    const double centre = log ? std::exp2(30) : std::exp2(59);
    const ParzenEstimator estimator({&wide}, {{centre, centre}}, {1, 1}, {});
    const auto near_and_far = estimator.log_density({{centre, log ? 2 : centre / 100}});
    REQUIRE(near_and_far[0] > near_and_far[1]);
    REQUIRE(std::isfinite(near_and_far[1]));
    Random random(1);
    const Columns drawn = estimator.draw(100, random);
    for (double value : drawn[0]) REQUIRE(contains(wide, value));
  }
}
