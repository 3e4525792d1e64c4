// SPDX-License-Identifier: Apache-2.0
// Sharing sources of values among the processes that run the same passes.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "passes/statistics/values.hpp"

namespace mase::passes {

/// Each source belongs to one process, which looks at all of its values as a process alone would.
/// So no finding depends on the number of processes. Sources go to processes by their numbers of
/// values: the largest first, each to the process with the fewest so far.
class SharedSources {
 public:
  /// `rows`: how many rows of data the graph runs on. Without companions all belong to this one.
  /// Error(Fault::config) for a graph that draws random numbers in several processes.
  SharedSources(const ir::Graph& graph, const std::vector<Source>& sources, std::int64_t rows,
                const PassContext& context);

  bool are_shared() const { return companions_ != nullptr; }
  const std::vector<std::size_t>& own() const { return own_; }  ///< places in the list, ascending
  /// The findings on all sources, in their order, from those that `find` returns for own(). It is
  /// not called if nothing is own. An error of one process is thrown in all of them.
  std::vector<Tree> findings(const std::function<std::vector<Tree>()>& find) const;

 private:
  Companions* companions_;
  std::vector<std::size_t> owners_;  ///< by source
  std::vector<std::size_t> own_;
};

}  // namespace mase::passes
