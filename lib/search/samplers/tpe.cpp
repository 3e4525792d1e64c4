// SPDX-License-Identifier: Apache-2.0
// Tree-structured Parzen estimator: suggests the point that is likeliest under the good trials,
// compared with the others, among candidates drawn from the good ones.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/samplers/parzen.hpp"
#include "search/samplers/random.hpp"
#include "search/samplers/rows.hpp"
#include "search/samplers/tpe_split.hpp"
#include "search/samplers/unit.hpp"

namespace mase::samplers {
namespace {

struct TpeOptions {
  int n_startup_trials = 10;
  int n_ei_candidates = 24;
  std::optional<bool> multivariate;
  bool constant_liar = true;
  double prior_weight = 1;
  bool consider_endpoints = false;
  static constexpr auto fields() {
    using O = TpeOptions;
    return std::tuple{
        Field{"n_startup_trials", &O::n_startup_trials, "trials drawn uniformly first"}.at_least(0),
        Field{"n_ei_candidates", &O::n_ei_candidates, "points compared for each suggestion"}
            .at_least(1),
        Field{"multivariate", &O::multivariate,
              "one joint estimator, not one per parameter; NA: with one objective only"},
        Field{"constant_liar", &O::constant_liar, "running trials count as bad ones"},
        Field{"prior_weight", &O::prior_weight, "weight of the prior next to one observation"}
            .between(1e-6, 1e6),
        Field{"consider_endpoints", &O::consider_endpoints,
              "the outermost kernels reach to the ends of the range"}};
  }
};

bool is_single(const Distribution& distribution) {
  if (const auto* d = std::get_if<FloatDistribution>(&distribution); d && !d->step)
    return d->low == d->high;
  return cardinality(distribution) == 1;
}

/// Values by trial and dimension; NaN where a trial has none within the range.
struct Rows {
  Rows(std::size_t trials, std::size_t dimensions)
      : width(dimensions), values(trials * dimensions, std::nan("")) {}
  std::size_t width;
  std::vector<double> values;
};

/// Reads parameters by name into rows: one walk along both sorted lists of names.
class RowReader {
 public:
  explicit RowReader(const Space& space) : space_(space), order_(space.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return space_[a].name < space_[b].name; });
  }

  Rows read(const std::vector<const Trial*>& trials) const {
    Rows rows(trials.size(), space_.size());
    for (std::size_t i = 0; i < trials.size(); ++i)
      read(trials[i]->params, rows.values.data() + i * rows.width);
    return rows;
  }

 private:
  void read(const Params& params, double* row) const {
    auto entry = params.begin();
    for (std::size_t i : order_) {
      const std::string& name = space_[i].name;
      while (entry != params.end() && entry->first != name && entry->first < name) ++entry;
      if (entry == params.end()) return;
      if (entry->first != name) continue;
      if (contains(space_[i].distribution, entry->second)) row[i] = entry->second;
      ++entry;
    }
  }

  const Space& space_;
  std::vector<std::size_t> order_;
};

class TpeSampler : public Sampler {
 public:
  TpeSampler(const Problem& problem, const TpeOptions& options)
      : problem_(problem),
        options_(options),
        reader_(problem_.space),
        is_joint_(options.multivariate.value_or(problem.directions.size() == 1)) {
    for (const auto& group : groups(problem_.space)) add_parts(group);
  }

  Suggestion suggest(std::span<const Trial> history, std::int64_t number) override {
    Random random(problem_.seed, static_cast<std::uint64_t>(number));
    std::vector<const Trial*> trials;
    for (const Trial& trial : history)
      if (counts(trial, number)) trials.push_back(&trial);
    const auto finished = std::count_if(trials.begin(), trials.end(), [](const Trial* trial) {
      return trial->state != TrialState::running;
    });
    if (finished < options_.n_startup_trials) return {random_params(problem_.space, random)};
    return {sample(split_history(trials, problem_.directions), random)};
  }

 private:
  using Part = std::vector<std::size_t>;  ///< dimensions that one estimator covers

  void add_parts(const Part& group) {
    if (is_joint_) return parts_.push_back(group);
    for (std::size_t dimension : group) parts_.push_back({dimension});
  }

  bool counts(const Trial& trial, std::int64_t number) const {
    if (trial.number == number) return false;
    if (trial.state == TrialState::running) return options_.constant_liar;
    if (trial.state == TrialState::complete)
      return trial.values.size() == problem_.directions.size();
    return trial.state == TrialState::pruned;
  }

  Params sample(const Split& split, Random& random) const {
    const Rows below = reader_.read(split.below), above = reader_.read(split.above);
    Params params;
    for (const Part& part : parts_)
      if (is_active(problem_.space[part.front()], params))
        sample_part(part, below, above, random, params);
    return params;
  }

  /// Sets the dimensions of one part, those with one value aside to that.
  void sample_part(const Part& part, const Rows& below, const Rows& above, Random& random,
                   Params& params) const {
    Part open;
    for (std::size_t i : part) {
      if (is_single(problem_.space[i].distribution))
        params[problem_.space[i].name] = value_at_share(problem_.space[i].distribution, 0);
      else
        open.push_back(i);
    }
    if (open.empty()) return;
    const bool uniform = problem_.directions.size() > 1;
    const ParzenEstimator good = estimator(open, below, uniform);
    const ParzenEstimator bad = estimator(open, above, false);
    const auto candidates = static_cast<std::size_t>(options_.n_ei_candidates);
    const Columns points = good.draw(candidates, random);
    const std::size_t best = most_improving(good.log_density(points), bad.log_density(points));
    for (std::size_t d = 0; d < open.size(); ++d)
      params[problem_.space[open[d]].name] = points[d][best];
  }

  /// Over the rows that have all dimensions of the part.
  ParzenEstimator estimator(const Part& part, const Rows& rows, bool uniform) const {
    Columns columns(part.size());
    for (auto row = rows.values.begin(); row != rows.values.end();
         row += static_cast<std::ptrdiff_t>(rows.width)) {
      const auto at = [&](std::size_t i) { return row[static_cast<std::ptrdiff_t>(i)]; };
      const bool whole =
          std::none_of(part.begin(), part.end(), [&](std::size_t i) { return std::isnan(at(i)); });
      for (std::size_t d = 0; whole && d < part.size(); ++d) columns[d].push_back(at(part[d]));
    }
    std::vector<const Distribution*> distributions;
    for (std::size_t i : part) distributions.push_back(&problem_.space[i].distribution);
    const std::size_t count = columns.front().size();
    return {distributions, columns,
            uniform ? std::vector<double>(count, 1.0) : recency_weights(count),
            ParzenOptions{options_.prior_weight, options_.consider_endpoints}};
  }

  /// The expected improvement grows with l / g (Bergstra et al. 2011).
  static std::size_t most_improving(const std::vector<double>& good,
                                    const std::vector<double>& bad) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < good.size(); ++i)
      if (good[i] - bad[i] > good[best] - bad[best]) best = i;
    return best;
  }

  Problem problem_;
  TpeOptions options_;
  RowReader reader_;
  bool is_joint_;
  std::vector<Part> parts_;
};

}  // namespace

SamplerRow tpe_row() {
  return describe_sampler<TpeSampler, TpeOptions>("tpe",
                                                  "Tree-structured Parzen estimator (Bergstra et "
                                                  "al., NeurIPS 2011) with the rules of Optuna 5.");
}

}  // namespace mase::samplers
