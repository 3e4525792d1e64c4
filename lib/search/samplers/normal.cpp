// SPDX-License-Identifier: Apache-2.0
// Computes normal probabilities with the complementary error function and, beyond its range, with
// Laplace's continued fraction.
#include "search/samplers/normal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mase::samplers {
namespace {

const double log_sqrt_2pi = 0.5 * std::log(2 * std::numbers::pi);

double normal_pdf(double x) { return std::exp(-0.5 * x * x - log_sqrt_2pi); }

/// log Phi(-x) for large x: phi(x) / (x + 1/(x + 2/(x + 3/(x + ...)))).
double log_far_tail(double x) {
  double fraction = x;
  for (int k = 30; k > 0; --k) fraction = x + k / fraction;
  return -0.5 * x * x - log_sqrt_2pi - std::log(fraction);
}

/// log(e^p - e^q) for p >= q.
double log_difference(double p, double q) { return p + std::log1p(-std::exp(q - p)); }

}  // namespace

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double log_normal_cdf(double x) {
  if (x > 0) return std::log1p(-normal_cdf(-x));
  return x > -35 ? std::log(normal_cdf(x)) : log_far_tail(-x);
}

/// If both ends are on one side, this is the difference of two tails, taken on the left, where they
/// are small and exact. Otherwise it is 1 minus both tails.
double log_normal_mass(double a, double b) {
  if (b <= 0) return log_difference(log_normal_cdf(b), log_normal_cdf(a));
  if (a > 0) return log_difference(log_normal_cdf(-a), log_normal_cdf(-b));
  return std::log1p(-normal_cdf(a) - normal_cdf(-b));
}

/// Starts with Abramowitz and Stegun 26.2.22 (error below 0.003), then takes Halley's steps on
/// Phi(x) - p, whose second derivative is -x phi(x).
double normal_quantile(double p) {
  const double t = std::sqrt(-2 * std::log(p));
  double x = (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t)) - t;
  for (int step = 0; step < 3; ++step) {
    const double error = (normal_cdf(x) - p) / normal_pdf(x);
    x -= error / (1 + 0.5 * x * error);
  }
  return x;
}

/// Solved from the nearer end, so that neither tail loses digits.
double truncated_normal_quantile(double q, double a, double b) {
  const double left = normal_cdf(a), right = normal_cdf(-b), mass = 1 - left - right;
  const double below = left + q * mass, above = right + (1 - q) * mass;
  const double smaller = std::min(below, above);
  if (smaller <= 0) return below < above ? a : b;
  const double x = normal_quantile(std::min(smaller, 0.5));
  return std::clamp(below < above ? x : -x, a, b);
}

}  // namespace mase::samplers
