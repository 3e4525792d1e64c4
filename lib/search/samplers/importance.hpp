// SPDX-License-Identifier: Apache-2.0
// Importance: how strongly each parameter affects an objective.
#pragma once

#include <map>
#include <span>
#include <string>

#include "search/samplers/sampler.hpp"

namespace mase::samplers {

/// PED-ANOVA (Watanabe et al., IJCAI 2023): for each dimension, the Pearson divergence between the
/// distribution of the best tenth of the complete trials (at least two) and that of all of them,
/// with Parzen estimators over the dimension's grid, normalised to the sum 1. Dimensions with one
/// value get 0, and all of them do with fewer than 4 complete trials. A dimension that only some
/// trials have is weighted by its squared share among the best, divided by its share among all
/// (Conditional PED-ANOVA, arXiv 2601.20800).
std::map<std::string, double> importance(const Problem& problem, std::span<const Trial> trials,
                                         std::size_t objective);

}  // namespace mase::samplers
