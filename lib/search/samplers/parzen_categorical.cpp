// SPDX-License-Identifier: Apache-2.0
// Kernels over a list of choices. Each kernel has the prior's share for every choice, and 1 more
// for the one that was observed.
#include <cmath>
#include <numeric>

#include "search/samplers/parzen_axis.hpp"

namespace mase::samplers {
namespace {

class CategoricalAxis : public ParzenAxis {
 public:
  CategoricalAxis(std::size_t choices, std::span<const double> observations,
                  const ParzenOptions& options)
      : choices_(choices),
        observed_(observations.begin(), observations.end()),
        first_(choices + 1) {
    const double share = options.prior_weight / static_cast<double>(observations.size() + 1);
    const double total = 1 + share * static_cast<double>(choices);
    missed_ = share / total;
    log_missed_ = std::log(missed_);
    gain_ = std::log1p(1 / share);  // log of (share + 1) / share
    sort_kernels();
  }

  /// The part of the unit interval above the shares of all choices belongs to the observed choice.
  double draw(std::size_t kernel, Random& random) const override {
    if (kernel == observed_.size()) return static_cast<double>(random.below(choices_));
    const double choice = std::floor(random.uniform() / missed_);
    return choice < static_cast<double>(choices_) ? choice : observed_[kernel];
  }

  void add_constants(std::span<double> row) const override {
    for (double& value : row.first(observed_.size())) value += log_missed_;
    row.back() -= std::log(static_cast<double>(choices_));
  }

  void add_log_densities(std::span<const double> values, LogDensities& out) const override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = out.row(i);
      const auto choice = static_cast<std::size_t>(values[i]);
      for (std::size_t j = first_[choice]; j < first_[choice + 1]; ++j) row[members_[j]] += gain_;
    }
  }

 private:
  /// Sorts the kernels by the choice that they observed, with a counting sort.
  void sort_kernels() {
    for (double choice : observed_) ++first_[static_cast<std::size_t>(choice) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    members_.resize(observed_.size());
    for (std::size_t k = 0; k < observed_.size(); ++k)
      members_[next[static_cast<std::size_t>(observed_[k])]++] = k;
  }

  std::size_t choices_;
  std::vector<double> observed_;
  std::vector<std::size_t> members_;  ///< kernels, sorted by the choice they observed
  std::vector<std::size_t> first_;    ///< start of each choice's kernels, and the end
  double missed_ = 0, log_missed_ = 0, gain_ = 0;
};

}  // namespace

std::unique_ptr<ParzenAxis> make_categorical_axis(std::size_t choices,
                                                  std::span<const double> observations,
                                                  const ParzenOptions& options) {
  return std::make_unique<CategoricalAxis>(choices, observations, options);
}

}  // namespace mase::samplers
