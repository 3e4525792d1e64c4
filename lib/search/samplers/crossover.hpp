// SPDX-License-Identifier: Apache-2.0
// Crossovers of real vectors in the unit cube, which make a child from two or three parents.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/random.hpp"

namespace mase::samplers {

/// A kind of crossover. The child may lie outside the unit cube.
struct Crossover {
  std::string_view name;
  std::size_t parents;  ///< number of parents, all of the same length
  /// `eta` controls how close to the parents the children of sbx and vsbx are.
  std::vector<double> (*cross)(std::span<const std::vector<double>> parents, double eta, Random&);
};

/// The crossover of this name, or null, for example for "uniform".
const Crossover* find_crossover(std::string_view name);
std::vector<std::string_view> crossover_names();

}  // namespace mase::samplers
