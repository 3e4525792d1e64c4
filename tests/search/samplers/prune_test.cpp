// SPDX-License-Identifier: Apache-2.0
// The median pruner on small histories whose medians are computed by hand.
#include "search/samplers/prune.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace mase;
using namespace mase::samplers;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

Trial reporting(std::map<std::int64_t, double> reports, TrialState state = TrialState::complete) {
  Trial trial;
  trial.state = state;
  trial.intermediate = std::move(reports);
  return trial;
}

/// Five complete trials with 1 2 3 4 5 at step 0 and 10 20 30 40 at step 1.
std::vector<Trial> five() {
  return {reporting({{0, 1}, {1, 10}}), reporting({{0, 2}, {1, 20}}), reporting({{0, 3}, {1, 30}}),
          reporting({{0, 4}, {1, 40}}), reporting({{0, 5}})};
}

bool pruned(const MedianPruner& pruner, std::map<std::int64_t, double> reports,
            Direction direction = Direction::minimize) {
  const auto history = five();
  return should_prune(pruner, history, reporting(std::move(reports), TrialState::running),
                      direction);
}

}  // namespace

TEST_CASE("a trial worse than the median at its last step is pruned") {
  CHECK_FALSE(pruned({}, {{0, 3}}));  // equal is not worse
  CHECK(pruned({}, {{0, 3.01}}));
  CHECK_FALSE(pruned({}, {{0, 9}, {1, 25}}));  // median of an even number: (20 + 30) / 2
  CHECK(pruned({}, {{0, 99}, {1, 25.01}}));
  CHECK(pruned({}, {{0, 2.9}}, Direction::maximize));
  CHECK_FALSE(pruned({}, {{0, 3}}, Direction::maximize));
}

TEST_CASE("the best report so far counts, not the newest") {
  CHECK_FALSE(pruned({}, {{0, 5}, {1, 99}}));  // 5 is below 25
}

TEST_CASE("nothing is pruned before there are enough complete trials") {
  auto history = five();
  const Trial bad = reporting({{0, 99}}, TrialState::running);
  CHECK(should_prune({}, history, bad, Direction::minimize));
  history[2].state = TrialState::pruned;
  CHECK_FALSE(should_prune({}, history, bad, Direction::minimize));
  MedianPruner eager;
  eager.n_startup_trials = 0;
  CHECK(should_prune(eager, history, bad, Direction::minimize));
  CHECK_FALSE(should_prune(eager, {}, bad, Direction::minimize));
}

TEST_CASE("nothing is pruned where nobody else reported, or without a report") {
  CHECK_FALSE(pruned({}, {{7, 99}}));
  CHECK_FALSE(pruned({}, {}));
}

TEST_CASE("steps of the warm-up are never pruned") {
  MedianPruner pruner;
  pruner.n_warmup_steps = 1;
  CHECK_FALSE(pruned(pruner, {{0, 99}}));
  CHECK(pruned(pruner, {{0, 99}, {1, 99}}));
}

TEST_CASE("with an interval only its first report is looked at") {
  const auto history = [] {
    std::vector<Trial> trials;
    for (int i = 0; i < 5; ++i) trials.push_back(reporting({{0, 1}, {1, 1}, {2, 1}, {3, 1}}));
    return trials;
  }();
  MedianPruner pruner;
  pruner.interval_steps = 2;
  const auto prunes = [&](std::map<std::int64_t, double> reports) {
    return should_prune(pruner, history, reporting(std::move(reports)), Direction::minimize);
  };
  CHECK(prunes({{0, 9}}));
  CHECK_FALSE(prunes({{0, 9}, {1, 9}}));
  CHECK(prunes({{0, 9}, {1, 9}, {2, 9}}));
  CHECK(prunes({{0, 9}, {3, 9}}));  // the report of step 2 is missing: step 3 is the first
  CHECK_FALSE(prunes({{2, 9}, {3, 9}}));
}

TEST_CASE("reports that are no number: a trial of nothing else is pruned, others' are left out") {
  CHECK(pruned({}, {{0, no_number}}));
  CHECK_FALSE(pruned({}, {{0, 1}, {1, no_number}}));
  auto history = five();
  for (int i : {0, 1, 2}) history[static_cast<std::size_t>(i)].intermediate[0] = no_number;
  CHECK_FALSE(should_prune({}, history, reporting({{0, 4.5}}), Direction::minimize));
  CHECK(should_prune({}, history, reporting({{0, 4.6}}), Direction::minimize));
}
