// SPDX-License-Identifier: Apache-2.0
// Test problems for the sampler benchmark. sampler_problems.py states their formulas, and a check
// compares the values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "search/samplers/space.hpp"

namespace mase::bench {

struct BenchProblem {
  std::string name;
  samplers::Space space;
  std::size_t objectives;
  std::int64_t trials;  ///< the budget
  double optimum;
  /// Maps internal values, in the order of the space, to objectives, which are all minimised.
  std::function<std::vector<double>(const std::vector<double>&)> function;
};

const std::vector<BenchProblem>& problems();

/// Point k of the points at which the two programs are compared.
std::vector<double> comparison_point(const BenchProblem& problem, int k);

}  // namespace mase::bench
