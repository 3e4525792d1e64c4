// SPDX-License-Identifier: Apache-2.0
// NSGA-III (Deb & Jain 2014) selects survivors by constrained rank, and in the last rank those
// whose reference direction has the fewest points.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/error.hpp"
#include "search/samplers/genetic.hpp"
#include "search/samplers/reference_points.hpp"
#include "search/samplers/rows.hpp"

namespace mase::samplers {

namespace {

struct NsgaiiiOptions : GeneticOptions {
  int dividing_parameter = 3;
  static auto fields() {
    using O = NsgaiiiOptions;
    return std::tuple_cat(
        GeneticOptions::fields(),
        std::tuple{Field{"dividing_parameter", &O::dividing_parameter,
                         "divisions of each axis of the simplex of reference points"}
                       .between(1, 1000)});
  }
};

/// The candidates of the last front by direction, and how often each direction is taken.
class Niches {
 public:
  Niches(const std::vector<Association>& associations, std::size_t directions)
      : associations_(associations), candidates_(directions), taken_(directions, 0) {}

  void take(std::size_t point) { ++taken_[associations_[point].direction]; }
  void offer(std::size_t point) { candidates_[associations_[point].direction].push_back(point); }

  /// Picks a candidate of a direction that is taken least (a random one of equals): the nearest to
  /// the direction if it is not taken yet, otherwise any.
  std::size_t pick(Random& random) {
    const std::size_t direction = least_taken(random);
    auto& candidates = candidates_[direction];
    const auto chosen =
        taken_[direction] == 0
            ? std::min_element(candidates.begin(), candidates.end(),
                               [&](std::size_t a, std::size_t b) {
                                 return associations_[a].distance < associations_[b].distance;
                               })
            : candidates.begin() + static_cast<std::ptrdiff_t>(random.below(candidates.size()));
    const std::size_t point = *chosen;
    candidates.erase(chosen);
    take(point);
    return point;
  }

 private:
  std::size_t least_taken(Random& random) const {
    std::vector<std::size_t> least;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (candidates_[i].empty()) continue;
      if (!least.empty() && taken_[i] < taken_[least.front()]) least.clear();
      if (least.empty() || taken_[i] == taken_[least.front()]) least.push_back(i);
    }
    return least[random.below(least.size())];
  }

  const std::vector<Association>& associations_;
  std::vector<std::vector<std::size_t>> candidates_;
  std::vector<std::size_t> taken_;
};

class NsgaiiiSampler final : public GeneticSampler {
 public:
  NsgaiiiSampler(const Problem& problem, const NsgaiiiOptions& options)
      : GeneticSampler(problem, options, "NSGAIIISampler"),
        directions_(reference_points(problem.directions.size(), options.dividing_parameter)) {}

 private:
  std::vector<Parent> select(std::span<const Point> points, std::span<const double> violations,
                             std::size_t count, Random& random) const override {
    const std::vector<int> rank = ranks(points, violations);
    const int last = last_front(rank, count);
    std::vector<std::size_t> considered;  // all of the ranks up to the last
    std::vector<Point> considered_points;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (rank[i] <= last) {
        considered.push_back(i);
        considered_points.push_back(points[i]);
      }
    const auto associations = associate(normalised(std::move(considered_points)), directions_);
    Niches niches(associations, directions_.size());
    std::vector<Parent> chosen;
    for (std::size_t i = 0; i < considered.size(); ++i) {
      const std::size_t place = considered[i];
      if (rank[place] == last) {
        niches.offer(i);
      } else {
        niches.take(i);
        chosen.push_back({place, rank[place], 0});
      }
    }
    while (chosen.size() < count) chosen.push_back({considered[niches.pick(random)], last, 0});
    return chosen;
  }

  /// The rank at which the number of points reaches `count`.
  static int last_front(const std::vector<int>& rank, std::size_t count) {
    std::vector<int> sorted = rank;
    std::sort(sorted.begin(), sorted.end());
    return sorted[count - 1];
  }

  std::vector<Point> directions_;
};

}  // namespace

SamplerRow nsgaiii_row() {
  return describe_sampler<NsgaiiiSampler, NsgaiiiOptions>(
      "nsgaiii",
      "Genetic search by rank and reference directions (NSGA-III, Deb and Jain, IEEE TEC 2014).");
}

}  // namespace mase::samplers
