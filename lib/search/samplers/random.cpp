// SPDX-License-Identifier: Apache-2.0
// Uniform sampling of a conditional space, and the sampler that does only this.
#include "search/samplers/random.hpp"

#include "search/samplers/rows.hpp"
#include "search/samplers/unit.hpp"

namespace mase::samplers {
namespace {

struct RandomOptions {
  static constexpr auto fields() { return std::tuple{}; }
};

class RandomSampler : public Sampler {
 public:
  RandomSampler(const Problem& problem, const RandomOptions&) : problem_(problem) {}

  Suggestion suggest(const History&, std::int64_t number) override {
    Random random(problem_.seed, static_cast<std::uint64_t>(number));
    return {random_params(problem_.space, random)};
  }

 private:
  Problem problem_;
};

}  // namespace

Params random_params(const Space& space, Random& random) {
  Params params;
  for (const Dimension& dimension : space)
    if (is_active(dimension, params))
      params[dimension.name] = value_at_share(dimension.distribution, random.uniform());
  return params;
}

SamplerRow random_row() {
  return describe_sampler<RandomSampler, RandomOptions>(
      "random", "Independent uniform draws (Bergstra and Bengio, JMLR 2012).");
}

}  // namespace mase::samplers
