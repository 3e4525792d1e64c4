// SPDX-License-Identifier: Apache-2.0
// Quasi-random search: trial n is point n of a scrambled Sobol sequence, for any history.
#include "base/error.hpp"
#include "search/samplers/rows.hpp"
#include "search/samplers/sobol.hpp"
#include "search/samplers/unit.hpp"

namespace mase::samplers {

namespace {

struct QmcOptions {
  static constexpr std::tuple<> fields() { return {}; }
};

class QmcSampler final : public Sampler {
 public:
  QmcSampler(const Problem& problem, const QmcOptions&)
      : space_(problem.space), sequence_(checked_size(problem.space), problem.seed) {}

  /// The coordinate of an inactive dimension is not used.
  Suggestion suggest(const History&, std::int64_t number) override {
    Suggestion suggestion;
    for (std::size_t i = 0; i < space_.size(); ++i)
      if (is_active(space_[i], suggestion.params))
        suggestion.params[space_[i].name] = value_at_share(
            space_[i].distribution, sequence_.at(static_cast<std::uint64_t>(number), i));
    return suggestion;
  }

 private:
  static std::size_t checked_size(const Space& space) {
    if (space.size() > sobol_dimensions)
      config_error("qmc: the space has " + std::to_string(space.size()) +
                   " dimensions, but qmc has direction numbers for " +
                   std::to_string(sobol_dimensions) + " only; use random, tpe or nsgaii");
    return space.size();
  }

  Space space_;
  ScrambledSobol sequence_;
};

}  // namespace

SamplerRow qmc_row() {
  return describe_sampler<QmcSampler, QmcOptions>(
      "qmc", "Scrambled Sobol points (Joe and Kuo 2008, Matousek 1998); at most 256 dimensions.");
}

}  // namespace mase::samplers
