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
/// The x with Phi(x) = p, for 0 < p <= 1/2.
double normal_quantile(double p);
/// The quantile of the normal distribution truncated to [a, b], for a <= 0 <= b: the point below
/// which it has the share `q` in [0, 1].
double truncated_normal_quantile(double q, double a, double b);

}  // namespace mase::samplers
