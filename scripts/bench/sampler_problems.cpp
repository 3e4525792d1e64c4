// SPDX-License-Identifier: Apache-2.0
// These are the same problems as in sampler_problems.py.
#include "sampler_problems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace mase::bench {
namespace {

using samplers::CategoricalDistribution;
using samplers::Distribution;
using samplers::FloatDistribution;
using samplers::Space;
using Values = std::vector<double>;
constexpr double pi = std::numbers::pi;

Space repeated(std::size_t count, const Distribution& distribution) {
  Space space;
  for (std::size_t j = 0; j < count; ++j)
    space.push_back({(j < 10 ? "p0" : "p") + std::to_string(j), distribution, {}});
  return space;
}

Space two(const Distribution& first, const Distribution& second) {
  Space space = repeated(2, first);
  space[1].distribution = second;
  return space;
}

Distribution five_choices() {
  CategoricalDistribution choices;
  for (int i = 0; i < 5; ++i) choices.choices.emplace_back(i);
  return choices;
}

double branin(const Values& p) {
  const double x = p[0], y = p[1];
  const double bowl = y - 5.1 * x * x / (4 * pi * pi) + 5 * x / pi - 6;
  return bowl * bowl + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10;
}

double hartmann6(const Values& x) {
  constexpr std::array<double, 4> alpha{1.0, 1.2, 3.0, 3.2};
  constexpr double a[4][6]{{10, 3, 17, 3.5, 1.7, 8},
                           {0.05, 10, 17, 0.1, 8, 14},
                           {3, 3.5, 1.7, 10, 17, 8},
                           {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double p[4][6]{{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                           {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                           {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                           {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    double exponent = 0;
    for (std::size_t j = 0; j < 6; ++j) exponent += a[i][j] * (x[j] - p[i][j]) * (x[j] - p[i][j]);
    sum += alpha[i] * std::exp(-exponent);
  }
  return -sum;
}

double rosenbrock(const Values& x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double valley = x[i + 1] - x[i] * x[i];
    sum += 100 * valley * valley + (1 - x[i]) * (1 - x[i]);
  }
  return sum;
}

double ackley(const Values& x) {
  double squares = 0, waves = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double z = x[i] - (-12 + 2.7 * static_cast<double>(i));
    squares += z * z;
    waves += std::cos(2 * pi * z);
  }
  const auto count = static_cast<double>(x.size());
  return -20 * std::exp(-0.2 * std::sqrt(squares / count)) - std::exp(waves / count) + 20 +
         std::numbers::e;
}

constexpr std::array<double, 5> widths{2, 3, 4, 6, 8};

double layer_cost(std::size_t layer, double bits) {
  const double sensitivity = 0.1 * std::pow(300.0, static_cast<double>(layer) / 23);
  return sensitivity * std::pow(4.0, -bits) + bits / 24;
}

double bits24(const Values& choices) {
  double sum = 0;
  for (std::size_t i = 0; i < choices.size(); ++i)
    sum += layer_cost(i, widths[static_cast<std::size_t>(choices[i])]);
  return sum;
}

double bits24_optimum() {
  double sum = 0;
  for (std::size_t i = 0; i < 24; ++i) {
    double best = layer_cost(i, widths[0]);
    for (double bits : widths) best = std::min(best, layer_cost(i, bits));
    sum += best;
  }
  return sum;
}

Values zdt(int kind, const Values& x) {
  const double rest = std::accumulate(x.begin() + 1, x.end(), 0.0);
  const double g = 1 + 9 * rest / static_cast<double>(x.size() - 1), share = x[0] / g;
  if (kind == 1) return {x[0], g * (1 - std::sqrt(share))};
  if (kind == 2) return {x[0], g * (1 - share * share)};
  return {x[0], g * (1 - std::sqrt(share) - share * std::sin(10 * pi * x[0]))};
}

double choices50(const Values& choices) {
  return std::accumulate(choices.begin(), choices.end(), 0.0) / 50;
}

BenchProblem single(std::string name, Space space, std::int64_t trials, double optimum,
                    double (*function)(const Values&)) {
  return {std::move(name),
          std::move(space),
          1,
          trials,
          optimum,
          [function](const Values& x) { return Values{function(x)}; }};
}

BenchProblem zdt_problem(int kind) {
  return {"zdt" + std::to_string(kind),
          repeated(30, FloatDistribution{0, 1}),
          2,
          1000,
          0,
          [kind](const Values& x) { return zdt(kind, x); }};
}

}  // namespace

const std::vector<BenchProblem>& problems() {
  static const std::vector<BenchProblem> table{
      single("branin", two(FloatDistribution{-5, 10}, FloatDistribution{0, 15}), 100, 10 / (8 * pi),
             branin),
      single("hartmann6", repeated(6, FloatDistribution{0, 1}), 150, -3.32236801141551, hartmann6),
      single("rosenbrock5", repeated(5, FloatDistribution{-5, 10}), 200, 0, rosenbrock),
      single("ackley10", repeated(10, FloatDistribution{-32.768, 32.768}), 200, 0, ackley),
      single("bits24", repeated(24, five_choices()), 200, bits24_optimum(), bits24),
      zdt_problem(1),
      zdt_problem(2),
      zdt_problem(3),
      single("choices50", repeated(50, five_choices()), 300, 0, choices50)};
  return table;
}

Values comparison_point(const BenchProblem& problem, int k) {
  Values point;
  for (std::size_t j = 0; j < problem.space.size(); ++j) {
    const double place = 0.37 * (k + 1) + 0.61 * static_cast<double>(j + 1);
    const double share = place - std::floor(place);
    const auto* range = std::get_if<FloatDistribution>(&problem.space[j].distribution);
    point.push_back(range != nullptr ? range->low + share * (range->high - range->low)
                                     : std::floor(share * 5));
  }
  return point;
}

}  // namespace mase::bench
