// SPDX-License-Identifier: Apache-2.0
// The search for a folding against brute force over all folds of small programs.
#include <catch2/catch.hpp>
#include <random>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.hpp"
#include "hardware/design/build.hpp"
#include "hardware/design/folding/choose_folding.hpp"
#include "hardware/design/folding/fold_merge.hpp"
#include "hardware/design/folding/fold_options.hpp"
#include "hardware/design/step_table.hpp"
#include "programs.hpp"
#include "support/infinity.hpp"

using namespace mase;
using namespace mase::design;
using mase::test::infinity;
using mase::test::ProgramMaker;
using mase::test::square;

namespace {

ProgramMaker two_layers() {
  ProgramMaker maker;
  auto x = maker.input("x", {12});
  maker.output(maker.linear("b", maker.linear("a", x, 12, 8), 8, 6));
  return maker;
}

/// Every divisor by trial, independent of the search's own enumeration.
std::vector<std::int64_t> divisors_by_trial(std::int64_t number) {
  std::vector<std::int64_t> result;
  for (std::int64_t d = 1; d <= number; ++d)
    if (number % d == 0) result.push_back(d);
  return result;
}

/// Alone, or with outputs that share multipliers.
double cheapest_area(const Program& program, const Step& step, Fold fold) {
  double best = area(step_cost(program, step, fold));
  for (const Packing& packing : step_packings(program, step, fold, dsp_block(default_dsp_block))) {
    fold.packing = packing;
    best = std::min(best, area(step_cost(program, step, fold)));
  }
  return best;
}

FoldOption option(std::int64_t interval, double lut, double dsp, double bram) {
  FoldOption made;
  made.interval = interval;
  made.cost = {lut, 0, 0, dsp, bram};
  made.area = area(made.cost);
  return made;
}

Limits limits(std::optional<double> lut, std::optional<double> dsp, std::optional<double> bram) {
  Target target;
  target.lut = lut;
  target.dsp = dsp;
  target.bram = bram;
  return Limits(target);
}

}  // namespace

TEST_CASE("under an interval every layer gets its cheapest fold") {
  const ProgramMaker maker = two_layers();
  const auto program = maker.share();
  for (std::int64_t interval : {96, 48, 20, 10, 4, 1}) {
    Target target;
    target.initiation_interval = interval;
    const Folding found = choose_folding(*program, target);
    double cheapest = 0, chosen = 0;
    for (const Step& step : program->steps) {
      const auto& linear = std::get<integer::Linear>(step.operation);
      double best = infinity;
      for (std::int64_t in : divisors_by_trial(linear.inputs))
        for (std::int64_t out : divisors_by_trial(linear.outputs))
          if (linear.inputs / in * (linear.outputs / out) <= interval)
            best = std::min(best, cheapest_area(*program, step, {in, out}));
      cheapest += best;
      chosen += area(step_cost(*program, step, found.at(step.name)));
      CHECK(step_interval(*program, step, found.at(step.name)) <= interval);
    }
    // Converters may make a dearer layer worth its while, never by more than they cost themselves.
    CHECK(chosen >= cheapest);
    const integer::StreamValue value{"", {8, 0, true}, {8}, {8}, {}};
    CHECK(chosen <= cheapest + area(resize_cost(value, 1, 8, any_interval)) + 1);
  }
}

namespace {

/// The least area of a sum of one option per step that fits; infinite where none does.
double best_of_all(const std::vector<FoldOptions>& steps, const Limits& limit, Cost sum = {},
                   std::size_t step = 0) {
  if (step == steps.size()) return limit.fits(sum) ? area(sum) : infinity;
  double best = infinity;
  for (const FoldOption& one : steps[step]) {
    Cost next = sum;
    next += one.cost;
    best = std::min(best, best_of_all(steps, limit, next, step + 1));
  }
  return best;
}

void check_merge(const std::vector<FoldOptions>& steps, const Limits& limit) {
  const double best = best_of_all(steps, limit);
  const auto found = merge(steps, limit);
  REQUIRE(found.has_value() == (best < infinity));
  if (!found) return;
  Cost sum;
  for (const FoldOption& part : *found) sum += part.cost;
  CHECK(limit.fits(sum));
  CHECK(area(sum) == Approx(best));
}

/// Options of which the ones with fewer LUTs have more DSP blocks or memories.
FoldOptions random_options(std::mt19937& random, int count) {
  FoldOptions options;
  for (int i = 0; i < count; ++i) {
    const auto dsp = static_cast<double>(random() % 9),
               bram = static_cast<double>(random() % 7) / 2;
    const double lut = 20 + static_cast<double>(random() % 400) / (1 + dsp + bram);
    options.push_back(option(8, lut, dsp, bram));
  }
  return options;
}

}  // namespace

TEST_CASE("sums of options are the best of all combinations that fit") {
  const std::vector<FoldOptions> steps{
      {option(8, 100, 0, 1), option(8, 20, 4, 1), option(8, 60, 2, 0)},
      {option(8, 300, 0, 0), option(8, 40, 8, 0), option(8, 150, 2, 1.5)},
      {option(8, 50, 0, 2), option(8, 10, 1, 2), option(8, 90, 0, 0)}};
  for (const Limits& limit :
       {limits(1000, {}, {}), limits(250, 8, {}), limits({}, 3, 2), limits(200, 10, 1.5),
        limits({}, 0, 0), limits(150, 5, 5), limits(430, 1, 0.5)})
    check_merge(steps, limit);
}

TEST_CASE("sums of random options under random limits are the best of all combinations") {
  std::mt19937 random(1);
  for (int run = 0; run < 300; ++run) {
    std::vector<FoldOptions> steps;
    for (int i = 0; i < 5; ++i) steps.push_back(random_options(random, 4));
    const auto some = [&](int most) -> std::optional<double> {
      if (random() % 4 == 0) return std::nullopt;
      return static_cast<double>(random() % static_cast<unsigned>(most));
    };
    INFO("run " << run);
    check_merge(steps, limits(some(900), some(25), some(12)));
  }
}

TEST_CASE("limits that no sum of many options meets are found out without adding them up") {
  std::mt19937 random(2);
  std::vector<FoldOptions> steps;
  for (int i = 0; i < 600; ++i)
    steps.push_back(undominated(random_options(random, 12), limits(1, 1, 1)));
  // Each limit by itself can be met.
  Cost low;
  for (const FoldOptions& options : steps) low += least(options);
  const Limits limit = limits(low.lut * 1.1, low.dsp + 60, low.bram + 60);
  CHECK_FALSE(merge(steps, limit).has_value());
}

TEST_CASE("where the sums of many options are too many, one that fits and a bound are found") {
  std::mt19937 random(3);
  std::vector<FoldOptions> steps;
  for (int i = 0; i < 600; ++i)
    steps.push_back(undominated(random_options(random, 12), limits(1, 1, 1)));
  Cost low;
  for (const FoldOptions& options : steps) low += least(options);
  const Limits limit = limits(low.lut * 1.6, low.dsp + 1400, low.bram + 500);
  for (const Merged& found : {merge(steps, limit), fitting(steps, limit)}) {
    REQUIRE(found.has_value());
    CHECK_FALSE(found.proven);
    const Cost sum = sum_of(*found);
    CHECK(limit.fits(sum));
    CHECK(found.least_area <= area(sum));
    CHECK(found.least_area > 0.99 * area(sum));
  }
}

TEST_CASE("an option that another one beats is dropped, one that is better somewhere is not") {
  const FoldOptions kept = undominated(
      {option(8, 100, 0, 0), option(8, 90, 1, 0), option(8, 120, 0, 0), option(8, 95, 2, 0)},
      limits(1000, 10, {}));
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].cost.lut == 100);
  CHECK(kept[1].cost.lut == 90);
}

TEST_CASE("outputs share DSP blocks where that saves some, and not where that is forbidden") {
  ProgramMaker maker;
  auto x = maker.input("x", {64});
  maker.output(maker.linear("a", x, 64, 32));
  const Program& program = maker.program();
  const Step& step = program.steps[0];
  Target target;
  target.layers["a"] = {8, 4};
  const auto fold = [&] { return choose_folding(program, target).at("a"); };
  CHECK(fold().packing.outputs > 1);
  Fold alone = fold();
  alone.packing = {};
  CHECK(step_cost(program, step, fold()).dsp < step_cost(program, step, alone).dsp);
  CHECK(area(step_cost(program, step, fold())) < area(step_cost(program, step, alone)));
  target.packing = false;
  CHECK(fold() == alone);
  target.layer_packing["a"] = true;
  CHECK(fold().packing.outputs > 1);
  target.layers["a"].out_lanes = 1;  // no two outputs at a time
  CHECK(fold().packing == Packing{});
  target.layers["a"] = {8, 4, false, Multiplier::fabric};
  CHECK(fold().packing == Packing{});
  target.layers["a"] = {8, 4};
  target.block = &dsp_block("none");
  CHECK(fold().packing == Packing{});
}

TEST_CASE("channels by themselves share no activations, groups of several outputs do") {
  ProgramMaker maker;
  auto x = maker.input("x", {8, 8, 8});
  auto own = maker.convolution("own", x, square(8, 8, 3, 1, 1), 8, 8);
  maker.output(maker.convolution("groups", own, square(8, 8, 3, 1, 1), 16, 4));
  const Program& program = maker.program();
  const DspBlock& block = dsp_block(default_dsp_block);
  CHECK(step_packings(program, program.steps[0], {9, 4, true}, block).empty());
  const auto packs = step_packings(program, program.steps[1], {18, 8, true}, block);
  REQUIRE_FALSE(packs.empty());
  CHECK(packs.back().outputs <= 4);  // of a group
}

TEST_CASE("the same DSP blocks allow a shorter interval when outputs share them") {
  ProgramMaker maker;
  auto x = maker.input("x", {64});
  maker.output(maker.linear("b", maker.linear("a", x, 64, 64), 64, 64));
  const auto reached = [&](std::optional<bool> packing, double dsp) {
    Target target;
    target.dsp = dsp;
    target.multiplier = Multiplier::dsp;
    target.packing = packing;
    const Design design = build_for(maker.share(), target);
    CHECK(cost(design).dsp <= dsp);
    return design.timing.interval;
  };
  for (const double dsp : {4, 16, 32}) CHECK(2 * reached({}, dsp) <= reached(false, dsp));
}

TEST_CASE("without a target the ports move an element a cycle") {
  const auto program = two_layers().share();
  const Folding found = choose_folding(*program, {});
  for (const Step& step : program->steps)
    CHECK(step_interval(*program, step, found.at(step.name)) <= 12);
}

TEST_CASE("folds fixed by the user are kept, the other lanes follow the target") {
  const auto program = two_layers().share();
  Target target;
  target.initiation_interval = 24;
  target.layers["a"] = {3, 0};
  target.layers["b"] = {8, 2, false, Multiplier::dsp};
  target.packing = false;
  const Folding found = choose_folding(*program, target);
  CHECK(found.at("a").in_lanes == 3);
  CHECK(found.at("a").out_lanes >= 2);  // 12 / 3 * 8 / pe <= 24
  CHECK((found.at("b") == Fold{8, 2, false, Multiplier::dsp}));
}

TEST_CASE("bounded lanes give blocks as fast as the bound allows") {
  ProgramMaker maker;
  maker.output(maker.linear("fc", maker.input("x", {16}), 16, 16));
  Target target;
  target.max_lanes = 4;
  target.packing = false;
  // The M x M block of the reference system: N * N / (M * M) cycles.
  CHECK((choose_folding(maker.program(), target).at("fc") == Fold{4, 4}));
}

TEST_CASE("targets that cannot be met say what can") {
  const auto program = two_layers().share();
  Target target;
  target.layers["a"] = {1, 8};
  target.initiation_interval = 4;
  CHECK_THROWS_WITH(choose_folding(*program, target),
                    "an initiation interval of 4 cannot be had: 'a' needs at least 12");
  try {
    choose_folding(*program, target);
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::goal);
  }
  target.layers["a"] = {5, 0};
  CHECK_THROWS_WITH(choose_folding(*program, target), Catch::Contains("use 1, 2, 3, 4, 6, 12"));
  Target unknown;
  unknown.layers["aa"] = {1, 1};
  CHECK_THROWS_WITH(choose_folding(*program, unknown),
                    Catch::Contains("'aa', which has no hardware"));
}

TEST_CASE("a target that closed forms meet but the whole does not is searched again or refused") {
  const auto program = two_layers().share();
  Target target;
  for (std::int64_t interval : {96, 30, 7}) {
    target.initiation_interval = interval;
    CHECK(build_for(program, target).timing.interval <= interval);
  }
}

TEST_CASE("convolutions unfold their window when the target asks for it") {
  ProgramMaker maker;
  const integer::Window window = square(8, 1, 3, 1, 1);
  maker.output(maker.convolution("conv", maker.input("x", {8, 8, 1}), window, 4));
  Target target;
  target.initiation_interval = 64;
  const Fold fold = choose_folding(maker.program(), target).at("conv");
  CHECK(fold.parallel_window);
  CHECK((fold.in_lanes == 9 && fold.out_lanes == 4));
  target.initiation_interval = 64 * 36;
  CHECK(step_interval(maker.program(), maker.program().steps[0],
                      choose_folding(maker.program(), target).at("conv")) <= 64 * 36);
}

TEST_CASE("depthwise and grouped convolutions unfold their window too") {
  for (const auto& [groups, outputs, simd, pe] :
       std::vector<std::array<std::int64_t, 4>>{{8, 8, 9, 8}, {8, 16, 9, 16}, {2, 6, 36, 6}}) {
    ProgramMaker maker;
    maker.output(maker.convolution("conv", maker.input("x", {8, 8, 8}), square(8, 8, 3, 1, 1),
                                   outputs, groups));
    Target target;
    target.initiation_interval = 64;  // a pixel per cycle
    target.packing = false;
    const Fold fold = choose_folding(maker.program(), target).at("conv");
    CHECK((fold == Fold{simd, pe, true}));
    CHECK(build_for(maker.share(), target).timing.interval == 64);
    // One of the groups per cycle takes a cycle for each.
    CHECK(step_interval(maker.program(), maker.program().steps[0],
                        {simd, outputs / groups, true}) == 64 * groups);
  }
}

TEST_CASE("the interval of a parallel window counts the steps without a window") {
  // 8 x 7 pixels, of which two rows and two columns end no window; 8 channels in 4 groups. The
  // cycles were measured in simulation.
  ProgramMaker maker;
  integer::Window window = square(8, 8, 3);
  window.x = mase::test::slid(7, 3, 1, 0);
  maker.output(maker.convolution("conv", maker.input("x", {8, 7, 8}), window, 8, 4));
  const auto interval = [&](Fold fold) {
    return step_interval(maker.program(), maker.program().steps[0], fold);
  };
  CHECK(interval({18, 1, true}) == 332);
  CHECK(interval({18, 4, true}) == 112);
  CHECK(interval({6, 1, true}) == 771);
  CHECK(interval({6, 4, true}) == 208);
  CHECK(interval({2, 4, true}) == 556);
}

TEST_CASE("intervals of parallel windows hold when the models run") {
  struct Layer {
    integer::Window window;
    std::int64_t outputs, groups;
  };
  for (const Layer& layer :
       {Layer{square(9, 4, 3, 2, 1), 8, 4}, Layer{square(8, 4, 3), 8, 2},
        Layer{square(9, 4, 2, 3), 8, 2}, Layer{square(8, 3, 3), 8, 1},
        Layer{square(9, 2, 3, 2, 1), 4, 1}, Layer{square(10, 6, 3, 3, 1), 12, 6},
        Layer{square(9, 2, 5), 8, 1}, Layer{square(12, 4, 3, 2, 1), 4, 4}}) {
    ProgramMaker maker;
    const integer::Window& window = layer.window;
    const auto x = maker.input("x", {window.y.size, window.x.size, window.channels});
    maker.output(maker.convolution("conv", x, window, layer.outputs, layer.groups));
    const Step& step = maker.program().steps[0];
    FoldSpace space;
    space.fixed.parallel_window = true;
    for (const FoldOption& option : fold_options(maker.program(), step, space, 1 << 20)) {
      const std::int64_t found = build(maker.share(), {{"conv", option.fold}}).timing.interval;
      INFO("kernel " << window.y.kernel << ", groups " << layer.groups << ", simd "
                     << option.fold.in_lanes << ", pe " << option.fold.out_lanes);
      CHECK(found <= option.interval);
      CHECK(static_cast<double>(option.interval) <= 1.1 * static_cast<double>(found));
    }
  }
}

TEST_CASE("a parallel window that is fixed takes whole groups, or says why it cannot") {
  ProgramMaker maker;
  maker.output(maker.convolution("conv", maker.input("x", {8, 8, 8}), square(8, 8, 3, 1, 1), 6, 2));
  Target target;
  target.initiation_interval = 64 * 3 * 9 * 2;
  target.layers["conv"] = {0, 0, true};
  CHECK(choose_folding(maker.program(), target).at("conv").in_lanes % 4 == 0);
  target.max_lanes = 3;
  CHECK_THROWS_WITH(choose_folding(maker.program(), target),
                    "parallelism of 'conv': simd (input lanes) is at least 4, above "
                    "max_parallelism = 3; raise it or set the simd of the layer");
}
