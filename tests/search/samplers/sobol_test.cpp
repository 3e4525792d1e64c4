// SPDX-License-Identifier: Apache-2.0
// Sobol's sequence: published first points, the net property plain and scrambled, and the sampler.
#include "search/samplers/sobol.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "search/samplers/rows.hpp"

using namespace mase;
using namespace mase::samplers;

namespace {

/// Point `index` by the definition: exclusive or of the columns of its digits.
double plain(std::size_t dimension, std::uint64_t index) {
  const SobolColumns columns = sobol_columns(dimension);
  std::uint32_t digits = 0;
  for (std::size_t k = 0; k < 32; ++k)
    if (index >> k & 1U) digits ^= columns[k];
  return digits * 0x1p-32;
}

/// Van der Corput's radical inverse in base 2.
double radical_inverse(unsigned index) {
  double value = 0;
  for (double weight = 0.5; index > 0; index /= 2, weight /= 2) value += weight * (index % 2);
  return value;
}

/// Whether every interval [i, i + 1) / 2^bits has one of the first 2^bits points.
template <class Coordinate>
bool fills_every_interval(int bits, Coordinate&& coordinate) {
  std::set<int> cells;
  for (int n = 0; n < 1 << bits; ++n)
    cells.insert(static_cast<int>(std::ldexp(coordinate(n), bits)));
  return cells.size() == std::size_t{1} << bits;
}

/// Whether 2^bits points put one into each box of 2^-left by 2^-(bits - left).
template <class First, class Second>
bool fills_every_box(int bits, First&& first, Second&& second) {
  for (int left = 0; left <= bits; ++left) {
    std::set<std::pair<int, int>> cells;
    for (int n = 0; n < 1 << bits; ++n)
      cells.insert({static_cast<int>(std::ldexp(first(n), left)),
                    static_cast<int>(std::ldexp(second(n), bits - left))});
    if (cells.size() != std::size_t{1} << bits) return false;
  }
  return true;
}

Problem problem_of(std::size_t dimensions, std::uint64_t seed) {
  Problem problem;
  problem.seed = seed;
  problem.directions = {Direction::minimize};
  for (std::size_t i = 0; i < dimensions; ++i)
    problem.space.push_back({"x" + std::to_string(i), FloatDistribution{-1, 1, {}, false}, {}});
  return problem;
}

}  // namespace

TEST_CASE("the first dimension of Sobol's sequence is van der Corput's") {
  for (unsigned n = 0; n < 1000; ++n) CHECK(plain(0, n) == radical_inverse(n));
}

TEST_CASE("the first points of Sobol's sequence are the published ones") {
  // Joe and Kuo list points in the order of Gray codes: their point i is number i ^ (i >> 1).
  const std::vector<std::vector<double>> published{{0, 0, 0},
                                                   {0.5, 0.5, 0.5},
                                                   {0.75, 0.25, 0.25},
                                                   {0.25, 0.75, 0.75},
                                                   {0.375, 0.375, 0.625},
                                                   {0.875, 0.875, 0.125},
                                                   {0.625, 0.125, 0.875},
                                                   {0.125, 0.625, 0.375},
                                                   {0.1875, 0.3125, 0.9375},
                                                   {0.6875, 0.8125, 0.4375}};
  for (std::uint64_t i = 0; i < published.size(); ++i)
    for (std::size_t d = 0; d < 3; ++d) CHECK(plain(d, i ^ (i >> 1)) == published[i][d]);
}

TEST_CASE("points of high dimensions are those of another implementation") {
  // scipy's qmc.Sobol(256, scramble=False, bits=32): points 5, 1000 and 4095 in Gray code order.
  const std::array<std::size_t, 4> dimensions{4, 17, 99, 255};
  const std::map<std::uint64_t, std::array<double, 4>> expected{
      {5, {0.875, 0.375, 0.375, 0.875}},
      {1000, {0.2802734375, 0.3447265625, 0.1865234375, 0.2490234375}},
      {4095, {0.940185546875, 0.609130859375, 0.962646484375, 0.613037109375}}};
  for (const auto& [i, point] : expected)
    for (std::size_t d = 0; d < dimensions.size(); ++d)
      CHECK(plain(dimensions[d], i ^ (i >> 1)) == point[d]);
}

TEST_CASE("every dimension of Sobol's sequence meets each dyadic interval once") {
  for (std::size_t d = 0; d < sobol_dimensions; ++d)
    CHECK(fills_every_interval(10, [&](int n) { return plain(d, static_cast<unsigned>(n)); }));
}

TEST_CASE("the generator matrices differ between dimensions") {
  std::set<SobolColumns> all;
  for (std::size_t d = 0; d < sobol_dimensions; ++d) all.insert(sobol_columns(d));
  CHECK(all.size() == sobol_dimensions);
}

TEST_CASE("scrambling keeps the net property and changes the points") {
  for (const std::uint64_t seed : {0, 1, 17}) {
    const ScrambledSobol sequence(sobol_dimensions, seed);
    const auto coordinate = [&](std::size_t d) {
      return [&sequence, d](int n) { return sequence.at(static_cast<unsigned>(n), d); };
    };
    for (std::size_t d = 0; d < sobol_dimensions; ++d)
      CHECK(fills_every_interval(9, coordinate(d)));
    CHECK(fills_every_box(8, coordinate(0), coordinate(1)));
  }
  CHECK(ScrambledSobol(1, 1).at(0, 0) != ScrambledSobol(1, 2).at(0, 0));
}

TEST_CASE("scrambled points are uniform over seeds") {
  // Mean and variance of a uniform number are 1/2 and 1/12; 2000 seeds, five standard errors.
  double sum = 0, squares = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const double value = ScrambledSobol(3, seed).at(5, 2);
    sum += value;
    squares += (value - 0.5) * (value - 0.5);
  }
  CHECK(sum / 2000 == Approx(0.5).margin(5 * std::sqrt(1.0 / 12 / 2000)));
  CHECK(squares / 2000 == Approx(1.0 / 12).margin(5 * std::sqrt(1.0 / 180 / 2000)));
}

TEST_CASE("qmc depends on seed and number only") {
  const SamplerRow row = qmc_row();
  const auto a = row.make(problem_of(4, 3), Tree::dict());
  const auto b = row.make(problem_of(4, 3), Tree::dict());
  const auto other = row.make(problem_of(4, 4), Tree::dict());
  a->suggest({}, 0);
  const std::vector<Trial> history(5);
  CHECK(a->suggest({}, 9).params == b->suggest(history, 9).params);
  CHECK(a->suggest({}, 9).params != other->suggest({}, 9).params);
}

TEST_CASE("qmc meets every choice of a dimension equally often") {
  Problem problem = problem_of(1, 5);
  problem.space.push_back({"width", CategoricalDistribution{{2, 3, 4, 8}}, {}});
  problem.space.push_back({"child", IntDistribution{1, 2}, Condition{"width", {0}}});
  const auto sampler = qmc_row().make(problem, Tree::dict());
  std::map<double, int> count;
  for (int n = 0; n < 64; ++n) {
    const Params params = sampler->suggest({}, n).params;
    ++count[params.at("width")];
    CHECK(params.contains("child") == (params.at("width") == 0));
    CHECK(std::fabs(params.at("x0")) <= 1);
  }
  CHECK(count == std::map<double, int>{{0, 16}, {1, 16}, {2, 16}, {3, 16}});
}

TEST_CASE("qmc names the limit of its dimensions") {
  CHECK_NOTHROW(qmc_row().make(problem_of(sobol_dimensions, 0), Tree::dict()));
  CHECK_THROWS_WITH(qmc_row().make(problem_of(sobol_dimensions + 1, 0), Tree::dict()),
                    Catch::Contains("257") && Catch::Contains("256"));
}
