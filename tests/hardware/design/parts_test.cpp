// SPDX-License-Identifier: Apache-2.0
// A network in parts against the same network as a whole, beat by beat.
#include <catch2/catch.hpp>

#include "base/random.hpp"
#include "hardware/design/build.hpp"
#include "hardware/design/building/parts.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "programs.hpp"

using namespace mase;
using namespace mase::design;
using mase::test::ProgramMaker;
using mase::test::square;

namespace {

std::int64_t one_of(Random& random, std::initializer_list<std::int64_t> values) {
  return *(values.begin() + random.below(values.size()));
}

Fold random_fold(Random& random) {
  return {one_of(random, {1, 2, 4, 8}), one_of(random, {1, 2, 4, 8})};
}

/// Residual blocks over rows of eight, each like the one before with even odds, behind a
/// convolution or not.
Design random_blocks(Random& random) {
  ProgramMaker maker;
  Folding folding;
  auto x = maker.input("x", {4, 4, 8});
  if (random.below(2) == 0) {
    x = maker.convolution("patch", x, square(4, 8, 3, 1, 1), 8);
    folding["patch"] = random_fold(random);
  }
  Fold first, second, sum;
  for (int b = 0; b < 5; ++b) {
    const std::string n = std::to_string(b);
    if (b == 0 || random.below(2) == 0) {
      first = random_fold(random);
      second = random_fold(random);
      sum.in_lanes = sum.out_lanes = one_of(random, {1, 2, 4, 8});
    }
    const auto inner = maker.linear("first" + n, x, 8, 8);
    x = maker.add("sum" + n, maker.linear("second" + n, inner, 8, 8), x);
    folding["first" + n] = first;
    folding["second" + n] = second;
    folding["sum" + n] = sum;
  }
  maker.output(x);
  return assemble(maker.share(), folding);
}

void set_depths(Design& design, Random& random, bool unbounded) {
  for (const std::size_t i : design.fifos())
    set_depth(design.instances[i], unbounded ? 1 << 20 : one_of(random, {16, 64, 129, 300}));
}

Network watched_network(const Design& design, std::int64_t interval) {
  Network network(design);
  network.input_interval = interval;
  for (const std::size_t i : design.fifos())
    network.watch(design.instances[i].inputs[0], design.instances[i].outputs[0]);
  return network;
}

/// Whether both move the same beats in every cycle; and FIFOs hold the same.
void check_same(const Design& design, Network& whole, Playback& parts) {
  while (whole.cycle() < 20'000) {
    whole.step();
    parts.step();
    for (const auto* streams : {&design.inputs, &design.outputs})
      for (StreamId id : *streams) REQUIRE(whole.moved(id) == parts.moved(id));
    if (whole.cycle() % 512 != 0) continue;
    for (std::size_t f = 0; f < design.fifos().size(); ++f)
      REQUIRE(whole.most_between(f) == parts.most_between(f));
  }
}

}  // namespace

TEST_CASE("a network in parts moves its beats in the cycles in which it does as a whole") {
  Random random(7);
  int played = 0;
  for (int trial = 0; trial < 60; ++trial) {
    CAPTURE(trial);
    Design design = random_blocks(random);
    const bool unbounded = trial % 3 != 0;
    set_depths(design, random, unbounded);
    // 16 rows of 64 products at most: no step takes longer than that for a frame, but patch.
    const std::int64_t interval = trial % 3 == 1 ? 16 * 8 * 72 : 0;
    Network whole = watched_network(design, interval);
    auto parts = run_parts(watched_network(design, interval));
    if (!parts) continue;
    ++played;
    check_same(design, whole, *parts);
  }
  CHECK(played >= 30);
}
