// SPDX-License-Identifier: Apache-2.0
// NSGA-II (Deb et al. 2002) selects survivors by constrained rank, in the last rank by crowding.
#include <algorithm>
#include <numeric>

#include "search/samplers/genetic.hpp"
#include "search/samplers/rows.hpp"

namespace mase::samplers {

namespace {

class NsgaiiSampler final : public GeneticSampler {
 public:
  NsgaiiSampler(const Problem& problem, const GeneticOptions& options)
      : GeneticSampler(problem, options, "NSGAIISampler") {}

 private:
  std::vector<Parent> select(std::span<const Point> points, std::span<const double> violations,
                             std::size_t count, Random&) const override {
    const std::vector<int> rank = ranks(points, violations);
    std::vector<Parent> chosen;
    for (int front = 0; chosen.size() < count; ++front) {
      std::vector<Parent> members;
      std::vector<Point> members_points;
      for (std::size_t i = 0; i < points.size(); ++i)
        if (rank[i] == front) {
          members.push_back({i, front, 0});
          members_points.push_back(points[i]);
        }
      const std::vector<double> spread = crowding_distance(members_points);
      for (std::size_t i = 0; i < members.size(); ++i) members[i].spread = spread[i];
      std::stable_sort(members.begin(), members.end(),
                       [](const Parent& a, const Parent& b) { return a.spread > b.spread; });
      members.resize(std::min(members.size(), count - chosen.size()));
      chosen.insert(chosen.end(), members.begin(), members.end());
    }
    return chosen;
  }
};

}  // namespace

SamplerRow nsgaii_row() {
  return describe_sampler<NsgaiiSampler, GeneticOptions>(
      "nsgaii",
      "Elitist genetic search by rank and crowding (NSGA-II, Deb et al., IEEE TEC 2002).");
}

}  // namespace mase::samplers
