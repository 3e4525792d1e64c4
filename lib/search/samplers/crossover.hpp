// SPDX-License-Identifier: Apache-2.0
// Crossovers of real vectors: a child from two or three parents, in the unit cube.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/random.hpp"

namespace mase::samplers {

/// A kind of crossover; the child may lie outside of the unit cube.
struct Crossover {
  std::string_view name;
  std::size_t parents;  ///< how many it takes, all of one length
  /// `eta`: how near to the parents the children of sbx and vsbx lie.
  std::vector<double> (*cross)(std::span<const std::vector<double>> parents, double eta, Random&);
};

/// The crossover of this name; null for other names, "uniform" among them.
const Crossover* find_crossover(std::string_view name);
std::vector<std::string_view> crossover_names();

}  // namespace mase::samplers
