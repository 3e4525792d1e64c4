// SPDX-License-Identifier: Apache-2.0
// Sharing the batches of a command among processes, so that its results are those of one process.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/companions.hpp"
#include "base/tree.hpp"
#include "ir/evaluator.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// An evaluator whose runs are shared: the i-th one is made by the rank i modulo the number of
/// processes, and rank 0 gets its results. So rank 0 sees the results of one process in their
/// order. Elsewhere run() returns nothing. All ranks must make the same runs in the same order.
std::unique_ptr<ir::Evaluator> share_runs(std::unique_ptr<ir::Evaluator> own,
                                          std::shared_ptr<Companions> companions);

/// Refuses ranks that differ in `settings`, a dict, in the model, or in the data, of which `data`
/// is a hash, with the name of the rank and of what differs: Error(Fault::config) in every rank.
void check_agreement(Companions& companions, const Tree& settings, const ir::Graph& graph,
                     const std::string& data);

}  // namespace mase::driver
