// SPDX-License-Identifier: Apache-2.0
// The standard normal distribution, accurate in its tails.
#pragma once

namespace mase::samplers {

/// Phi(x).
double normal_cdf(double x);
/// log Phi(x), also where Phi(x) underflows.
double log_normal_cdf(double x);
/// log(Phi(b) - Phi(a)) for a <= b.
double log_normal_mass(double a, double b);
/// The x with Phi(x) = p, 0 < p <= 1/2.
double normal_quantile(double p);
/// The point of [a, b], a <= 0 <= b, below which the normal distribution truncated to [a, b] has
/// the share `q` in [0, 1].
double truncated_normal_quantile(double q, double a, double b);

}  // namespace mase::samplers
