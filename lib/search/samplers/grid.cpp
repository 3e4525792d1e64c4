// SPDX-License-Identifier: Apache-2.0
// Exhaustive search tries every configuration of a countable space, in order.
#include "base/error.hpp"
#include "base/text.hpp"
#include "search/samplers/rows.hpp"

namespace mase::samplers {
namespace {

struct GridOptions {
  static constexpr auto fields() { return std::tuple{}; }
};

/// The number of configurations. Error(Fault::config) if they cannot be counted.
std::int64_t count_or_complain(const Space& space) {
  for (const Dimension& dimension : space)
    if (!cardinality(dimension.distribution))
      config_error("sampler \"grid\": " + quote(dimension.name) +
                   " can be any number in its range; give it a step, or choose another sampler");
  const auto count = configurations(space);
  if (!count)
    config_error("sampler \"grid\": the space has more than 2^62 configurations; " +
                 std::string("give fewer choices, or choose another sampler"));
  return *count;
}

class GridSampler : public Sampler {
 public:
  GridSampler(const Problem& problem, const GridOptions&)
      : space_(problem.space), count_(count_or_complain(problem.space)) {}

  /// After the last configuration it starts again with the first.
  Suggestion suggest(const History&, std::int64_t number) override {
    return {configuration_at(space_, number % count_)};
  }

 private:
  Space space_;
  std::int64_t count_;
};

}  // namespace

SamplerRow grid_row() {
  SamplerRow row = describe_sampler<GridSampler, GridOptions>(
      "grid", "Tries every configuration once; the first parameter changes slowest.");
  row.length = StudyLength::whole_space;
  row.other_names = {"bruteforce"};
  return row;
}

}  // namespace mase::samplers
