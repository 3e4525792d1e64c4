// SPDX-License-Identifier: Apache-2.0
// Takes the counts of the pass under the same names.
#include "search/runners/count_operations.hpp"

namespace mase::search {
namespace {

class CountRunner : public PassRunner {
 public:
  explicit CountRunner(const Bench& bench)
      : PassRunner(bench, {"count_operations", Tree::dict(), {}}) {}

  Tree measure(ir::Graph& graph, const TrialInput&) const override {
    const Tree found = info(graph);
    Tree values = Tree::dict();
    for (const MetricDoc& metric : CountOperations::metrics)
      values[metric.name] = found.at(metric.name);
    return values;
  }
};

}  // namespace

std::unique_ptr<Runner> CountOperations::make(const Bench& bench) const {
  return std::make_unique<CountRunner>(bench);
}

}  // namespace mase::search
