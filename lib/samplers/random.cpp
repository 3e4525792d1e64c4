// Uniform draws, and the sampler that makes nothing else.
#include "samplers/random.hpp"

#include <algorithm>
#include <cmath>

#include "samplers/rows.hpp"

namespace mase::samplers {
namespace {

double log_uniform(double low, double high, Random& random) {
  return std::exp(random.uniform(std::log(low), std::log(high)));
}

struct RandomOptions {
  static constexpr auto fields() { return std::tuple{}; }
};

class RandomSampler : public Sampler {
 public:
  RandomSampler(const Problem& problem, const RandomOptions&) : problem_(problem) {}

  Suggestion suggest(std::span<const Trial>, std::int64_t number) override {
    Random random(problem_.seed, static_cast<std::uint64_t>(number));
    return {random_params(problem_.space, random)};
  }

 private:
  Problem problem_;
};

}  // namespace

double random_value(const Distribution& distribution, Random& random) {
  if (const auto* d = std::get_if<FloatDistribution>(&distribution); d && !d->step) {
    if (!d->log) return random.uniform(d->low, d->high);
    return std::clamp(log_uniform(d->low, d->high, random), d->low, d->high);
  }
  if (const auto* d = std::get_if<IntDistribution>(&distribution); d && d->log) {
    const auto low = static_cast<double>(d->low), high = static_cast<double>(d->high);
    return std::clamp(std::nearbyint(log_uniform(low - 0.5, high + 0.5, random)), low, high);
  }
  const auto count = static_cast<std::uint64_t>(*cardinality(distribution));
  return value_at(distribution, static_cast<std::int64_t>(random.below(count)));
}

Params random_params(const Space& space, Random& random) {
  Params params;
  for (const Dimension& dimension : space)
    if (is_active(dimension, params))
      params[dimension.name] = random_value(dimension.distribution, random);
  return params;
}

SamplerRow random_row() {
  return describe_sampler<RandomSampler, RandomOptions>(
      "random", "Independent uniform draws (Bergstra and Bengio, JMLR 2012).");
}

}  // namespace mase::samplers
