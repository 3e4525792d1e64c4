// SPDX-License-Identifier: Apache-2.0
// Keeps the float model's outputs, and compares those of every trial with them.
#include "search/runners/output_distance.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "data/distance.hpp"
#include "search/runners/basic_evaluation.hpp"

namespace mase::search {
namespace {

/// Stands for the infinite SQNR of equal outputs, which a study cannot store. Float32 itself has
/// about 150 dB.
constexpr double equal_db = 300;

class DistanceRunner : public Runner {
 public:
  DistanceRunner(const Bench& bench, const OutputDistance& options)
      : bench_(bench),
        batches_(batches_of(*bench.dataset, {options.data_loader, options.num_samples})) {}

  Tree baseline(ir::Graph& graph, const SeeResults& see) override {
    float_results_ = results(graph, ir::Level::floating, see);
    return distances(float_results_);
  }

  Tree measure(ir::Graph& graph, const TrialInput& trial) const override {
    return distances(results(graph, ir::Level::quantized, trial.see));
  }
  bool runs_model() const override { return true; }

 private:
  /// The results of every batch.
  std::vector<ir::Results> results(const ir::Graph& graph, ir::Level level,
                                   const SeeResults& see) const {
    const auto evaluator = bench_.evaluator(graph, level);
    std::vector<ir::Results> all;
    batches_.for_each([&](const data::Batch& batch) {
      all.push_back(evaluator->run(batch.inputs));
      if (see) see(batch, all.back());
    });
    return all;
  }

  Tree distances(const std::vector<ir::Results>& found) const {
    MASE_CHECK(found.size() == float_results_.size(), "the float model was not measured first");
    const std::size_t outputs = found.empty() ? 0 : found.front().size();
    double sqnr = equal_db, cosine = 1, worst = 0;
    for (std::size_t output = 0; output < outputs; ++output) {
      data::Distance distance;
      for (std::size_t batch = 0; batch < found.size(); ++batch)
        distance.add(float_results_[batch][output].second, found[batch].at(output).second);
      sqnr = std::min(sqnr, distance.sqnr_db());
      cosine = std::min(cosine, distance.cosine());
      worst = std::max(worst, distance.worst);
    }
    Tree values = Tree::dict();
    values["sqnr_db"] = sqnr;
    values["cosine"] = cosine;
    values["worst_error"] = worst;
    return values;
  }

  const Bench& bench_;
  RowBatches batches_;
  std::vector<ir::Results> float_results_;
};

}  // namespace

std::unique_ptr<Runner> OutputDistance::make(const Bench& bench) const {
  return std::make_unique<DistanceRunner>(bench, *this);
}

}  // namespace mase::search
