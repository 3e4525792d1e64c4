// SPDX-License-Identifier: Apache-2.0
// The tree-structured Parzen estimator draws candidates from the good trials and suggests the one
// that is most likely under the good trials compared with the others.
#include <algorithm>
#include <cmath>
#include <map>
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
        Field{"n_startup_trials", &O::n_startup_trials, "first trials, at random"}.at_least(0),
        Field{"n_ei_candidates", &O::n_ei_candidates, "candidates compared per suggestion"}
            .at_least(1),
        Field{"multivariate", &O::multivariate,
              "one joint estimator instead of one per parameter; NA: for one objective only"},
        Field{"constant_liar", &O::constant_liar, "count running trials as bad ones"},
        Field{"prior_weight", &O::prior_weight, "weight of the prior against one observation"}
            .between(1e-6, 1e6),
        Field{"consider_endpoints", &O::consider_endpoints,
              "the outermost kernels extend to the ends of the range"}};
  }
};

bool is_single(const Distribution& distribution) {
  if (const auto* d = std::get_if<FloatDistribution>(&distribution); d && !d->step)
    return d->low == d->high;
  return cardinality(distribution) == 1;
}

/// Values by trial and dimension; NaN if a trial has no value in the range.
struct Rows {
  Rows(std::size_t trials, std::size_t dimensions)
      : width(dimensions), values(trials * dimensions, std::nan("")) {}
  std::size_t width;
  std::vector<double> values;
};

/// Reads parameters by name into rows, in one pass over both sorted lists of names.
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

/// Only this many of the newest trials that are not good are used. Older ones have little weight
/// (recency_weights), and this many kernels cover the space well. With all trials, a suggestion
/// would cost more and more.
constexpr std::size_t most_others = 1000;

class TpeSampler : public Sampler {
 public:
  TpeSampler(const Problem& problem, const TpeOptions& options)
      : problem_(problem),
        options_(options),
        reader_(problem_.space),
        is_joint_(options.multivariate.value_or(problem.directions.size() == 1)),
        digest_(problem_.directions, most_others) {
    for (const auto& group : groups(problem_.space)) add_parts(group);
  }

  Suggestion suggest(const History& history, std::int64_t number) override {
    number_ = number;
    seen_.reset();
    digest(history);
    std::vector<const Trial*> trials;
    for (const std::size_t place : digest_.picked())
      if (history.trials[place].number != number) trials.push_back(&history.trials[place]);
    std::size_t finished = digest_.finished();
    for (const Trial& trial : history.trials.subspan(digested_)) {
      if (!counts(trial) || trial.number == number) continue;
      trials.push_back(&trial);
      finished += trial.state != TrialState::running;
    }
    if (finished >= static_cast<std::size_t>(options_.n_startup_trials))
      look_at(split_history(trials, problem_.directions,
                            good_count(finished, problem_.directions.size())));
    return *suggest_again(problem_.seed);
  }

  std::optional<Suggestion> suggest_again(std::uint64_t seed) override {
    Random random(seed, static_cast<std::uint64_t>(number_));
    if (!seen_) return Suggestion{random_params(problem_.space, random)};
    return Suggestion{sample(random)};
  }

 private:
  using Part = std::vector<std::size_t>;  ///< dimensions that one estimator covers

  /// Estimates for a part from the history of the last call, without single-valued dimensions.
  struct Estimates {
    ParzenEstimator good, bad;
    std::map<std::vector<double>, double> improvement;  ///< for the points seen so far
  };
  struct Seen {
    Rows below, above;
    std::map<const Part*, Estimates> estimates;  ///< for the parts needed so far
  };

  void add_parts(const Part& group) {
    if (is_joint_) return parts_.push_back(group);
    for (std::size_t dimension : group) parts_.push_back({dimension});
  }

  /// Processes new settled trials, or all of them if this history is shorter than the last one.
  void digest(const History& history) {
    if (history.settled < digested_) {
      digested_ = 0;
      digest_ = SplitDigest(problem_.directions, most_others);
    }
    for (; digested_ < history.settled; ++digested_)
      if (const Trial& trial = history.trials[digested_]; counts(trial))
        digest_.add(trial, digested_);
  }

  bool counts(const Trial& trial) const {
    if (trial.state == TrialState::running) return options_.constant_liar;
    if (trial.state == TrialState::complete)
      return trial.values.size() == problem_.directions.size();
    return trial.state == TrialState::pruned;
  }

  void look_at(Split split) {
    if (split.above.size() > most_others)
      split.above.erase(split.above.begin(), split.above.end() - most_others);
    seen_.emplace(Seen{reader_.read(split.below), reader_.read(split.above), {}});
  }

  Params sample(Random& random) {
    Params params;
    for (const Part& part : parts_)
      if (is_active(problem_.space[part.front()], params)) sample_part(part, random, params);
    return params;
  }

  /// Sets the dimensions of one part. Dimensions with a single value get this value.
  void sample_part(const Part& part, Random& random, Params& params) {
    Part open;
    for (std::size_t i : part) {
      if (is_single(problem_.space[i].distribution))
        params[problem_.space[i].name] = value_at_share(problem_.space[i].distribution, 0);
      else
        open.push_back(i);
    }
    if (open.empty()) return;
    Estimates& estimates = estimates_of(part, open);
    const auto candidates = static_cast<std::size_t>(options_.n_ei_candidates);
    const Columns points = estimates.good.draw(candidates, random);
    const std::size_t best = most_improving(points, estimates);
    for (std::size_t d = 0; d < open.size(); ++d)
      params[problem_.space[open[d]].name] = points[d][best];
  }

  Estimates& estimates_of(const Part& part, const Part& open) {
    const auto known = seen_->estimates.find(&part);
    if (known != seen_->estimates.end()) return known->second;
    const bool uniform = problem_.directions.size() > 1;
    return seen_->estimates
        .emplace(&part, Estimates{estimator(open, seen_->below, uniform),
                                  estimator(open, seen_->above, false),
                                  {}})
        .first->second;
  }

  /// An estimator from the rows that have all dimensions of the part.
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

  /// The point with the largest l / g, with which the expected improvement grows (Bergstra et al.
  /// 2011). Candidates come from few kernels, so many are equal; each is evaluated only once.
  static std::size_t most_improving(const Columns& points, Estimates& estimates) {
    const std::size_t count = points.front().size();
    std::vector<std::vector<double>> rows(count, std::vector<double>(points.size()));
    Columns fresh(points.size());
    std::vector<double*> places;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t d = 0; d < points.size(); ++d) rows[i][d] = points[d][i];
      const auto [entry, is_new] = estimates.improvement.emplace(rows[i], 0.0);
      if (!is_new) continue;
      places.push_back(&entry->second);
      for (std::size_t d = 0; d < points.size(); ++d) fresh[d].push_back(points[d][i]);
    }
    if (!places.empty()) {
      const std::vector<double> good = estimates.good.log_density(fresh),
                                bad = estimates.bad.log_density(fresh);
      for (std::size_t i = 0; i < places.size(); ++i) *places[i] = good[i] - bad[i];
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < count; ++i)
      if (estimates.improvement.at(rows[i]) > estimates.improvement.at(rows[best])) best = i;
    return best;
  }

  Problem problem_;
  TpeOptions options_;
  RowReader reader_;
  bool is_joint_;
  std::vector<Part> parts_;
  SplitDigest digest_;        ///< digest of the settled trials
  std::size_t digested_ = 0;  ///< number of trials in it
  std::int64_t number_ = 0;   ///< trial of the last call
  std::optional<Seen> seen_;  ///< its history; unset while trials are random
};

}  // namespace

SamplerRow tpe_row() {
  return describe_sampler<TpeSampler, TpeOptions>("tpe",
                                                  "Tree-structured Parzen estimator (Bergstra et "
                                                  "al., NeurIPS 2011) with the rules of Optuna 5.");
}

}  // namespace mase::samplers
