// SPDX-License-Identifier: Apache-2.0
// Timing of whole designs of real modules against the closed forms of the modules' descriptions.
#include <catch2/catch.hpp>

#include "hardware/design/build.hpp"
#include "hardware/design/folding/efficiency.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/schedule.hpp"
#include "programs.hpp"

using namespace mase;
using namespace mase::design;
using mase::test::ProgramMaker;
using mase::test::square;

TEST_CASE("one folded linear takes SF * NF cycles a row, and SF + 6 + TREE to its first output") {
  ProgramMaker maker;
  maker.output(maker.linear("fc", maker.input("x", {64}), 64, 64));
  for (const Fold& fold : {Fold{8, 8}, Fold{4, 2}, Fold{1, 64}, Fold{8, 1}}) {
    const Design design = build(maker.share(), {{"fc", fold}});
    const std::int64_t sf = 64 / fold.in_lanes, nf = 64 / fold.out_lanes;
    const std::int64_t tree = (fold.in_lanes + 1) / 2;  // pairs of at most eight lanes
    CHECK(design.timing.first == sf + 6 + tree);
    CHECK(design.timing.last == design.timing.first + sf * (nf - 1));
    CHECK(design.timing.interval == sf * nf);
  }
}

namespace {

/// The same handshake model, clocked in every cycle.
class Restless : public Handshake {
 public:
  explicit Restless(std::unique_ptr<Handshake> inner) : inner_(std::move(inner)) {}
  bool ready(int input) const override { return inner_->ready(input); }
  bool valid(int output) const override { return inner_->valid(output); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override {
    inner_->clock(taken, given);
  }

 private:
  std::unique_ptr<Handshake> inner_;
};

std::unique_ptr<Handshake> restless_handshake(const Instance& instance) {
  return std::make_unique<Restless>(table_handshake(instance));
}

/// One of each kind of module, folded by `fold`.
Design design_of_every_kind(const Fold& fold) {
  ProgramMaker maker;
  auto x = maker.input("x", {8, 8, 4});
  const integer::Window same = square(8, 4, 3, 1, 1), half = square(8, 4, 2, 2);
  const integer::Window overlap = square(4, 8, 3, 1, 1);
  auto a = maker.convolution("a", x, same, 4), b = maker.convolution("b", x, same, 4, 4);
  auto sum = maker.add("sum", a, b);
  auto both = maker.step("both", integer::Concat{64}, {sum, x}, {8, 8, 8});
  auto part = maker.step("part", integer::Slice{2, 4, 8}, {both}, {8, 8, 4});
  auto pool = maker.step("pool", integer::Pool{integer::PoolKind::sum, half}, {part}, {4, 4, 4});
  auto c = maker.linear("c", pool, 4, 8);
  auto wide = maker.step("wide", integer::Pool{integer::PoolKind::max, overlap}, {c}, {4, 4, 8});
  auto flat = maker.linear("fc", wide, 128, 6);
  maker.output(maker.step("cast", integer::Cast{}, {flat}, {6}));
  Folding folding;
  for (const Step& step : maker.program().steps) folding[step.name] = fold;
  folding["a"] = {18, 1, true};
  return build(maker.share(), folding);
}

}  // namespace

TEST_CASE("leaving out idle handshake models changes no cycle") {
  for (const Fold& fold : {Fold{1, 1}, Fold{2, 2}}) {
    const Design design = design_of_every_kind(fold);
    Network lazy(design);
    Network restless(design, restless_handshake);
    for (int cycle = 0; cycle < 20000; ++cycle) {
      lazy.step();
      restless.step();
      for (std::size_t s = 0; s < design.streams.size(); ++s)
        if (lazy.moved(static_cast<StreamId>(s)) != restless.moved(static_cast<StreamId>(s)))
          FAIL("stream " << design.streams[s].name << " differs in cycle " << cycle);
    }
    CHECK(lazy.moved(design.outputs[0]) > 0);
  }
}

TEST_CASE("leaving out the quiet cycles of long rows changes no cycle") {
  ProgramMaker maker;
  auto x = maker.input("x", {6, 48});
  auto a = maker.linear("a", x, 48, 48), b = maker.linear("b", x, 48, 48);
  const integer::Matmul scores{.inputs = 48, .outputs = 6, .repeat = 6, .output_step = 48};
  auto products = maker.step("products", scores, {a, b}, {6, 6});
  maker.output(maker.linear("c", products, 6, 4));
  Folding folding;
  for (const Step& step : maker.program().steps) folding[step.name] = Fold{1, 1};
  const Design design = build(maker.share(), folding);
  Network lazy(design), restless(design, restless_handshake);
  lazy.input_interval = restless.input_interval = 2 * design.timing.interval;
  std::int64_t left_out = 0;
  while (lazy.cycle() < 10 * design.timing.interval) {
    lazy.step();
    const std::int64_t pause = lazy.pause();
    left_out += pause;
    lazy.pass(pause);
    while (restless.cycle() < lazy.cycle()) restless.step();
    for (std::size_t s = 0; s < design.streams.size(); ++s)
      if (lazy.moved(static_cast<StreamId>(s)) != restless.moved(static_cast<StreamId>(s)))
        FAIL("stream " << design.streams[s].name << " differs in cycle " << lazy.cycle());
  }
  CHECK(lazy.moved(design.outputs[0]) > 0);
  CHECK(left_out > lazy.cycle() / 2);
}

TEST_CASE("frames that repeat and are not run come when they would have come") {
  for (const Fold& fold : {Fold{1, 1}, Fold{2, 2}}) {
    const Design design = design_of_every_kind(fold);
    for (const std::int64_t pause : {0, 1, 1000}) {
      // States of the restless handshake models cannot be compared, so every frame is run.
      const auto networks = [&](auto use) {
        Network repeating(design), restless(design, restless_handshake);
        const std::int64_t interval = pause == 0 ? 0 : design.timing.interval + pause;
        repeating.input_interval = restless.input_interval = interval;
        use(repeating, restless);
        CHECK(repeating.cycle() < restless.cycle());
      };
      networks([&](Network& repeating, Network& restless) {
        const Schedule shown = run(repeating, design), expected = run(restless, design);
        CHECK(shown.first == expected.first);
        CHECK(shown.lasts == expected.lasts);
        CHECK(shown.interval == expected.interval);
        CHECK(shown.outputs[0].interval == expected.outputs[0].interval);
      });
      networks([&](Network& repeating, Network& restless) {
        const RunResult shown = finishes(repeating, design, 12);
        CHECK(shown.good);
        CHECK(shown.cycles == finishes(restless, design, 12).cycles);
      });
    }
  }
}

TEST_CASE("a design is late in the same cycle whether its frames are run or repeat") {
  const Design design = design_of_every_kind({2, 2});
  Network first(design);
  Schedule reference = run(first, design);
  Network repeating(design);
  const RunResult same = keeps_up(repeating, design, reference);
  CHECK(same.good);
  REQUIRE(same.timing);
  CHECK(same.timing->interval == design.timing.interval);
  reference.lasts.back() -= 1;
  Network late(design), restless(design, restless_handshake);
  const RunResult shown = keeps_up(late, design, reference);
  CHECK(!shown.good);
  CHECK(shown.cycles == keeps_up(restless, design, reference).cycles);
  CHECK(shown.cycles == restless.cycle());
}

TEST_CASE("the slowest layer of a chain gives the interval") {
  ProgramMaker maker;
  auto x = maker.input("x", {16});
  auto a = maker.linear("a", x, 16, 64);
  auto b = maker.linear("b", a, 64, 32);
  maker.output(maker.linear("c", b, 32, 5));
  // Intervals 64, 128 and 160.
  const Design design = build(maker.share(), {{"a", {4, 4}}, {"b", {4, 4}}, {"c", {1, 1}}});
  CHECK(design.timing.interval == 160);
  CHECK(design.timing.last < 64 + 128 + 160 + 40);
}

TEST_CASE("rows of a sequence follow each other without a gap") {
  ProgramMaker maker;
  maker.output(maker.linear("fc", maker.input("x", {10, 8}), 8, 4));
  const Design design = build(maker.share(), {{"fc", {2, 1}}});
  CHECK(design.timing.interval == 10 * 4 * 4);
  CHECK(design.timing.last == design.timing.first + 10 * 4 * 4 - 4);
}

TEST_CASE("intervals of single steps equal their closed form where nothing overlaps badly") {
  struct Case {
    integer::Window window;
    std::int64_t outputs, groups;
    Fold fold;
  };
  const std::vector<Case> cases{{square(8, 4, 3, 1, 1), 4, 1, {2, 2}},
                                {square(8, 4, 3, 1, 1), 4, 1, {4, 1}},
                                {square(9, 2, 3, 2, 1), 4, 1, {1, 4}},
                                {square(8, 4, 2, 2), 8, 2, {2, 2}},
                                {square(8, 4, 1), 4, 1, {2, 2}},
                                {square(8, 4, 1, 2), 4, 1, {2, 2}},
                                {square(8, 4, 3, 1, 1), 4, 4, {2, 2}},
                                {square(8, 2, 3, 1, 1), 4, 1, {6, 4, true}},
                                {square(8, 2, 5, 1, 2), 4, 1, {50, 4, true}},
                                {{{8, 3, 1, 2, 2, 8}, {8, 2, 2, 3, 1, 4}, 4}, 4, 1, {2, 2}},
                                {{{8, 3, 1, 2, 2, 8}, {8, 2, 1, 1, 0, 8}, 2}, 4, 1, {12, 4, true}}};
  for (const Case& each : cases) {
    ProgramMaker maker;
    auto x = maker.input("x", {each.window.y.size, each.window.x.size, each.window.channels});
    maker.output(maker.convolution("conv", x, each.window, each.outputs, each.groups));
    const Design design = build(maker.share(), {{"conv", each.fold}});
    const Step& step = design.program->steps[0];
    const std::int64_t closed = step_interval(*design.program, step, each.fold);
    INFO("kernel " << each.window.y.kernel << " stride " << each.window.y.stride << " fold "
                   << each.fold.in_lanes << " x " << each.fold.out_lanes);
    CHECK(design.timing.interval >= closed);
    CHECK(design.timing.interval <= closed + each.window.y.out + each.window.y.size);
  }
}

TEST_CASE("products of a convolution are those of every place, output and weight") {
  struct Case {
    std::int64_t groups;
    Fold fold;
    std::int64_t per_frame, per_cycle;
  };
  // 8 x 8 places of 4 outputs with 3 x 3 x 4 / groups weights; lanes of a depthwise one are one.
  const std::vector<Case> cases{{1, {2, 4}, 64 * 4 * 36, 8},
                                {2, {2, 2}, 64 * 4 * 18, 4},
                                {4, {2, 2}, 64 * 4 * 9, 2},
                                {1, {12, 2, true}, 64 * 4 * 36, 24}};
  for (const Case& each : cases) {
    ProgramMaker maker;
    auto x = maker.input("x", {8, 8, 4});
    maker.output(maker.convolution("conv", x, square(8, 4, 3, 1, 1), 4, each.groups));
    const Program& program = maker.program();
    const auto found = products_of(program, program.steps[0], each.fold);
    REQUIRE(found);
    CHECK(found->per_frame == each.per_frame);
    CHECK(found->per_cycle == each.per_cycle);
  }
}
