// SPDX-License-Identifier: Apache-2.0
// Measures bits per element, also for the float model.
#include "search/runners/average_bitwidth.hpp"

namespace mase::search {
namespace {

passes::PassCall call_of(const AverageBitwidth& options) {
  passes::PassCall call{"average_bits", Tree::dict(), {}};
  call.options["compare_to"] = options.compare_to;
  call.options["shared_bits"] = options.shared_bits;
  return call;
}

class BitsRunner : public PassRunner {
 public:
  BitsRunner(const Bench& bench, const AverageBitwidth& options)
      : PassRunner(bench, call_of(options)), options_(options) {}

  Tree baseline(ir::Graph& graph, const SeeResults&) override { return bits(graph); }
  Tree measure(ir::Graph& graph, const TrialInput&) const override {
    Tree values = bits(graph);
    values["memory_density"] = options_.compare_to / values.at("average_bitwidth").as_double();
    return values;
  }

 private:
  Tree bits(ir::Graph& graph) const {
    Tree values = Tree::dict();
    values["average_bitwidth"] = info(graph).at(
        options_.activations ? "average_bitwidth_with_activations" : "average_bitwidth");
    return values;
  }

  AverageBitwidth options_;
};

}  // namespace

std::unique_ptr<Runner> AverageBitwidth::make(const Bench& bench) const {
  return std::make_unique<BitsRunner>(bench, *this);
}

}  // namespace mase::search
