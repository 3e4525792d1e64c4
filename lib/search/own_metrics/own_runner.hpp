// SPDX-License-Identifier: Apache-2.0
// Measures the programs of [metrics] in a search.
#pragma once

#include <memory>

#include "search/options.hpp"
#include "search/runners/runner.hpp"

namespace mase::search {

/// The rows that the runners of a search evaluate: those of the first software runner, or the whole
/// validation part.
BasicEvaluation rows_of(const Runners& runners);

/// A runner that measures the programs that the search needs, on the rows of `rows_of`; nullptr if
/// it needs none. Bench and options must outlive it. Error(Fault::config) if a program is not
/// there, or the data set lacks the targets that it needs.
std::unique_ptr<Runner> make_own_runner(const Bench& bench, const Options& options);

}  // namespace mase::search
