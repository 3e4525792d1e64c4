// SPDX-License-Identifier: Apache-2.0
// The real-coded crossovers: BLX-alpha, SBX, vSBX, SPX and UNDX.
#include "search/samplers/crossover.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace mase::samplers {

namespace {

using Vector = std::vector<double>;
using Parents = std::span<const Vector>;

/// Uniform over the parents' box, widened on each side by half of its extent (Eshelman & Schaffer
/// 1993).
Vector blx_alpha(Parents parents, double, Random& random) {
  constexpr double alpha = 0.5;
  Vector child(parents[0].size());
  for (std::size_t i = 0; i < child.size(); ++i) {
    const auto [low, high] = std::minmax(parents[0][i], parents[1][i]);
    const double margin = alpha * (high - low);
    child[i] = random.uniform(low - margin, high + margin);
  }
  return child;
}

/// Each coordinate comes from `blend` with probability 1/2, otherwise from one of the parents.
template <class Blend>
Vector blend_half(Parents parents, Random& random, Blend&& blend) {
  Vector child(parents[0].size());
  for (std::size_t i = 0; i < child.size(); ++i) {
    const bool swap = random.uniform() < 0.5;
    const double a = parents[swap][i], b = parents[!swap][i];
    child[i] = random.uniform() < 0.5 ? blend(a, b) : a;
  }
  return child;
}

/// Simulated binary crossover in bounds (Deb & Agrawal 1995; Deb & Beyer 2001). `margin` is the
/// distance from the nearer parent to the bound; the spread is such that no child crosses it.
double sbx_spread(double margin, double extent, double eta, double u) {
  const double alpha = 2 - std::pow(1 + 2 * margin / extent, -(eta + 1));
  const double base = u <= 1 / alpha ? u * alpha : 1 / (2 - u * alpha);
  return std::pow(base, 1 / (eta + 1));
}

Vector sbx(Parents parents, double eta, Random& random) {
  return blend_half(parents, random, [&](double a, double b) {
    const double extent = std::max(std::fabs(a - b), 1e-10);
    // The child on the side of `a`.
    const double margin = a <= b ? a : 1 - a;
    const double spread = sbx_spread(margin, extent, eta, random.uniform());
    return 0.5 * (a + b + (a <= b ? -1 : 1) * spread * extent);
  });
}

/// vSBX (Ballester & Carter 2003): SBX without bounds. Its children lie equally on both sides of a
/// parent, so that no region is left out.
Vector vsbx(Parents parents, double eta, Random& random) {
  return blend_half(parents, random, [&](double a, double b) {
    const double u = random.uniform();  // below 1
    const double base = u <= 0.5 ? 2 * u : 0.5 / (1 - u);
    const double offset = 0.5 * (1 - std::pow(base, 1 / (eta + 1))) * (b - a);
    return random.uniform() < 0.5 ? a + offset : a - offset;
  });
}

Vector centre_of(Parents parents) {
  Vector centre(parents[0].size(), 0.0);
  for (const Vector& parent : parents)
    for (std::size_t i = 0; i < centre.size(); ++i)
      centre[i] += parent[i] / static_cast<double>(parents.size());
  return centre;
}

/// Uniform in the simplex of the parents, expanded about its centre by sqrt(dimensions + 2)
/// (Tsutsui et al. 1999). Corner k mixes in with a root of order k, which makes it uniform.
Vector spx(Parents parents, double, Random& random) {
  const Vector centre = centre_of(parents);
  const double expansion = std::sqrt(static_cast<double>(centre.size()) + 2);
  const auto corner = [&](std::size_t k, std::size_t i) {
    return centre[i] + expansion * (parents[k][i] - centre[i]);
  };
  Vector offset(centre.size(), 0.0), child(centre.size());
  for (std::size_t k = 1; k < parents.size(); ++k) {
    const double share = std::pow(random.uniform(), 1.0 / static_cast<double>(k));
    for (std::size_t i = 0; i < centre.size(); ++i)
      offset[i] = share * (corner(k - 1, i) - corner(k, i) + offset[i]);
  }
  for (std::size_t i = 0; i < centre.size(); ++i)
    child[i] = corner(parents.size() - 1, i) + offset[i];
  return child;
}

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Vector difference(const Vector& a, const Vector& b) {
  Vector result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::minus<>());
  return result;
}

/// Removes the component along the unit vector (or null vector) `axis` from `vector`.
void project_out(Vector& vector, const Vector& axis) {
  const double along = dot(vector, axis);
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] -= along * axis[i];
}

/// Unimodal normal distribution crossover (Ono & Kobayashi 1997): normal about the middle of two
/// parents, along their line with deviation 0.5 of its length, across it with 0.35 / sqrt(n) of the
/// third parent's distance. Independent normals less their part along the line are normal across.
Vector undx(Parents parents, double, Random& random) {
  const std::size_t n = parents[0].size();
  const Vector line = difference(parents[1], parents[0]);
  const double length = std::sqrt(dot(line, line));
  Vector axis(n, 0.0);
  for (std::size_t i = 0; i < n && length > 0; ++i) axis[i] = line[i] / length;
  Vector height = difference(parents[2], parents[0]);
  project_out(height, axis);
  const double deviation =
      0.35 / std::sqrt(static_cast<double>(n)) * std::sqrt(dot(height, height));
  const double along = 0.5 * random.normal();
  Vector across(n);
  for (double& value : across) value = deviation * random.normal();
  project_out(across, axis);
  Vector child(n);
  for (std::size_t i = 0; i < n; ++i)
    child[i] = (parents[0][i] + parents[1][i]) / 2 + along * line[i] + across[i];
  return child;
}

constexpr std::array crossovers{Crossover{"blxalpha", 2, blx_alpha}, Crossover{"sbx", 2, sbx},
                                Crossover{"vsbx", 2, vsbx}, Crossover{"spx", 3, spx},
                                Crossover{"undx", 3, undx}};

}  // namespace

const Crossover* find_crossover(std::string_view name) {
  const auto row = std::find_if(crossovers.begin(), crossovers.end(),
                                [&](const Crossover& entry) { return entry.name == name; });
  return row == crossovers.end() ? nullptr : &*row;
}

std::vector<std::string_view> crossover_names() {
  std::vector<std::string_view> names;
  for (const Crossover& row : crossovers) names.push_back(row.name);
  return names;
}

}  // namespace mase::samplers
