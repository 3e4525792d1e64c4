// SPDX-License-Identifier: Apache-2.0
// Importance: how much each parameter decides over an objective.
#pragma once

#include <map>
#include <span>
#include <string>

#include "search/samplers/sampler.hpp"

namespace mase::samplers {

/// PED-ANOVA (Watanabe et al., IJCAI 2023): per dimension the Pearson divergence between the
/// distribution of the best tenth of the complete trials (at least two) and that of all of them,
/// by Parzen estimators over the dimension's grid; normalised to the sum 1. Dimensions of one
/// value, and all of them below 4 complete trials, get 0. A dimension that only some trials have is
/// weighted by its share among the best, squared, over that among all (Conditional PED-ANOVA, arXiv
/// 2601.20800).
std::map<std::string, double> importance(const Problem& problem, std::span<const Trial> trials,
                                         std::size_t objective);

}  // namespace mase::samplers
