// SPDX-License-Identifier: Apache-2.0
// The clock that a design is predicted to reach, against what nextpnr placed and Yosys timed.
#include <catch2/catch.hpp>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "hardware/design/build.hpp"
#include "hardware/design/building/node_metadata.hpp"
#include "hardware/design/clock.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/folding/choose_folding.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/binary.hpp"
#include "hardware/design/modules/cast.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/modules/lookup.hpp"
#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/scale_shift.hpp"
#include "hardware/design/modules/slice.hpp"
#include "hardware/design/modules/stream_fork.hpp"
#include "hardware/design/modules/stream_resize.hpp"
#include "programs.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::design;
using namespace mase::test;

namespace {

Slowest slowest(const Instance& instance, const char* technology, const Extent& extent) {
  return slowest_path(instance, instance_cost({}, instance), technology_of(technology), extent);
}

template <HardwareModule T>
Slowest slowest(const T& module, const char* technology, const Extent& extent) {
  return slowest(Instance{"unit", "", module, {}, {}}, technology, extent);
}

/// An instance of a shipped design, none of which the delays are fitted to: LUTs of the whole
/// design in thousands and its DSP blocks, and the slowest path that ended in it, placed by nextpnr
/// for ECP5-6 with the default seed.
struct Placed {
  Instance instance;
  Extent extent;
  double ns;
};

template <HardwareModule T>
Placed placed_as(const T& module, const Extent& extent, double ns) {
  return {{"unit", "", module, {}, {}}, extent, ns};
}

/// Signed weights, accumulators that start with half of the divisor, and results that have no sign.
LinearModule linear(const ProductShape& shape, int in, int weight, int acc, int out, int shift) {
  LinearModule module;
  module.columns = shape.columns;
  module.passes = shape.rows;
  module.simd = shape.simd;
  module.pe = shape.pe;
  static_cast<Operands&>(module) = {in, false, weight, true, acc, true};
  module.bias_bits = 12;
  static_cast<Requantisation&>(module) = {
      .out_bits = out, .shift = shift, .low = {0, 64}, .high = {(1 << out) - 1, 64}};
  return module;
}

/// The first matrix of toy at 784 cycles, with pipeline stages.
LinearModule staged(std::int64_t operand, std::int64_t weight, std::int64_t product) {
  LinearModule module = linear({196, 4, 4, 25}, 8, 8, 23, 6, 13);
  static_cast<PipelineStages&>(module) = {operand, weight, product};
  return module;
}

/// Its weights in four banks.
LinearModule banked() {
  LinearModule module = linear({392, 20, 2, 5}, 8, 8, 23, 6, 13);
  module.operand_stages = 1;
  return module;
}

BinaryModule binary(int operation, std::int64_t lanes, int left,
                    const Requantisation& requantisation) {
  BinaryModule module{requantisation};
  module.operation = operation;
  module.lanes = lanes;
  module.a_bits = left;
  module.result_bits = 9;
  return module;
}

CastModule cast(std::int64_t lanes) { return {{.out_bits = 8, .shift = 2}, lanes, 8, true}; }

ScaleShiftModule scale_shift() {
  ScaleShiftModule module{{.out_bits = 8, .shift = 5, .low = {0, 64}, .high = {255, 64}}};
  module.blocks = 16;
  module.shift_bits = 12;
  module.sum_bits = 15;
  return module;
}

const std::vector<Placed>& placed() {
  static const std::vector<Placed> rows{
      placed_as(linear({16, 1, 1, 5}, 8, 6, 17, 8, 6), {0.21, 6}, 4.60),
      placed_as(linear({1, 32, 16, 1}, 8, 8, 17, 7, 7), {0.60, 18}, 5.29),
      placed_as(linear({16, 32, 4, 1}, 8, 6, 18, 6, 7), {0.47, 9}, 4.23),
      placed_as(linear({4, 16, 4, 1}, 6, 6, 13, 6, 5), {0.34, 11}, 4.38),
      placed_as(linear({196, 4, 4, 25}, 8, 8, 23, 6, 13), {1.30, 122}, 9.48),
      placed_as(staged(1, 0, 1), {1.30, 122}, 7.28),  // from the weights
      placed_as(banked(), {0.61, 16}, 6.47),
      placed_as(staged(1, 1, 1), {1.30, 122}, 6.58),  // the multipliers' enable
      placed_as(scale_shift(), {0.21, 6}, 3.98),
      placed_as(ResizeModule{.width = 8, .in_lanes = 16, .out_lanes = 1}, {0.60, 18}, 5.75),
      placed_as(ForkModule{.width = 128, .outputs = 2}, {0.60, 18}, 5.32),
      placed_as(SliceModule{.width = 7, .beats = 32, .first = 16, .count = 16}, {0.60, 18}, 4.97),
      placed_as(cast(1), {0.28, 0}, 3.69),
      placed_as(cast(4), {0.92, 0}, 3.82),
      placed_as(binary(1, 4, 8, {.out_bits = 9, .shift = -1, .low = {-256, 64}, .high = {255, 64}}),
                {0.92, 0}, 3.76),
      placed_as(binary(0, 32, 7, {}), {6.95, 0}, 6.12),
      placed_as(LookupModule{.lanes = 4, .in_bits = 9, .out_bits = 8}, {0.92, 0}, 4.53),
      placed_as(LookupModule{.lanes = 32, .in_bits = 9, .out_bits = 7}, {6.95, 0}, 5.43),
      placed_as(FifoModule{.width = 32, .depth = 13}, {0.47, 9}, 4.37),
      placed_as(FifoModule{.width = 224, .depth = 2}, {6.95, 0}, 5.93)};
  return rows;
}

}  // namespace

TEST_CASE("paths of modules are predicted as long as nextpnr placed them") {
  double sum = 0;
  for (const Placed& row : placed()) {
    const Slowest found = slowest(row.instance, "ecp5", row.extent);
    INFO(row.instance.module.name()
         << " " << found.what << ": " << found.ns << " predicted, " << row.ns);
    CHECK(std::abs(std::log(found.ns / row.ns)) < 3 * technology_of("ecp5").spread);
    sum += std::abs(found.ns / row.ns - 1);
  }
  CHECK(sum < 0.1 * static_cast<double>(placed().size()));
}

TEST_CASE("a clock is said with the range that nine designs of ten are placed in") {
  const Technology& ecp5 = technology_of("ecp5");
  const Clock found = clock_of(5, ecp5);
  CHECK(found.mhz == Approx(200));
  // The normal distribution has 5 % above 1.645 standard deviations.
  CHECK(std::log(found.high_mhz / found.mhz) == Approx(1.645 * ecp5.spread));
  CHECK(found.low_mhz * found.high_mhz == Approx(200 * 200));
  CHECK(mhz_text({.mhz = 150.4, .low_mhz = 119.8, .high_mhz = 188.6}) == "150 MHz (120 to 189)");
  CHECK(mhz_text(clock_of(5, technology_of("xc7"))) == "200 MHz");
}

TEST_CASE("memories take as many blocks, above each other, as Yosys makes for ECP5") {
  struct Made {
    std::int64_t width, depth, count, deep;
  };
  for (const Made& made : {Made{32, 4096, 8, 1}, Made{36, 4096, 8, 2}, Made{72, 9216, 36, 9}}) {
    const Blocks blocks = blocks_of(made.width, made.depth, technology_of("ecp5"));
    INFO(made.width << " bits, " << made.depth << " words");
    CHECK(blocks.count == made.count);
    CHECK(blocks.deep == made.deep);
  }
}

TEST_CASE("DSP blocks that add one after another take as long as Yosys says for xc7") {
  // In jsc_s and functional_ops: 1.82 ns out of the first block, 1.02 through the second.
  const LinearModule pairs = linear({16, 32, 4, 1}, 8, 6, 18, 6, 7);
  const Slowest found = slowest(pairs, "xc7", {1, 16});
  CHECK(found.what == "products");
  CHECK(found.ns == Approx(2.844).margin(0.01));
  // A single product has nothing to hand on; ECP5 adds in LUTs.
  const LinearModule one = linear({64, 32, 1, 1}, 8, 6, 18, 6, 7);
  CHECK(slowest(one, "xc7", {1, 16}).ns < found.ns);
  CHECK(slowest(pairs, "ecp5", {1, 16}).what != "products");
}

TEST_CASE("every module of a design but what is skids alone says which paths may be the longest") {
  const std::set<std::string> skids = {"mase_skid", "mase_link", "mase_link_input"};
  for (const ModuleRow& row : module_table()) {
    if (!row.read) continue;
    INFO(row.name);
    CHECK(row.read({})->paths(technology_of("ecp5")).empty() == skids.contains(row.name));
  }
}

TEST_CASE("wider, larger and more is slower") {
  const auto ns = [](std::int64_t pe, int acc, double kilo_luts) {
    return slowest(linear({16, 1, 1, pe}, 8, 6, acc, 8, 6), "ecp5", {kilo_luts, 16}).ns;
  };
  CHECK(ns(5, 24, 1) > ns(5, 17, 1));
  CHECK(ns(20, 17, 1) > ns(5, 17, 1));
  CHECK(ns(5, 17, 20) > ns(5, 17, 1));
}

TEST_CASE("a design is as fast as its slowest instance") {
  ProgramMaker maker;
  auto x = maker.input("x", {16});
  maker.output(maker.linear("b", maker.linear("a", x, 16, 64), 64, 32));
  const Design design = build(maker.share(), {{"a", {4, 4}}, {"b", {4, 4}}});
  for (const std::string& name : technology_names()) {
    const Clock found = clock(design, technology_of(name));
    REQUIRE(found.instances.size() == design.instances.size());
    for (const Slowest& instance : found.instances) CHECK(instance.ns <= 1000 / found.mhz * 1.0001);
    CHECK(found.instances[found.worst].ns == Approx(1000 / found.mhz));
  }
}

/// A matrix whose rows are kept in block memory, some outputs at a time, a DSP block for each
/// product.
Design long_rows(double mhz, std::int64_t outputs = 20, const char* technology = "ecp5") {
  ProgramMaker maker;
  maker.output(maker.linear("a", maker.input("x", {784}), 784, 100));
  Target target;
  target.layers["a"] = {4, outputs};
  target.packing = false;
  target.clock = {mhz, &technology_of(technology)};
  return build_for(maker.share(), target);
}

TEST_CASE("matrices get registers where the clock would be missed, and only there") {
  const Design slow = long_rows(50), fast = long_rows(200);
  for (const StageKind& kind : stage_kinds) {
    INFO(kind.key);
    CHECK(slow.folding.at("a").*kind.count == 0);
  }
  CHECK(fast.folding.at("a").operand_stages == 1);
  CHECK(fast.folding.at("a").product_stages == 1);
  const Technology& technology = technology_of(default_technology);
  CHECK(clock(fast, technology).mhz > clock(slow, technology).mhz);
  CHECK(fast.timing.interval == slow.timing.interval);
  CHECK(fast.timing.first == slow.timing.first + 2);
  CHECK(cost(fast).dsp == cost(slow).dsp);
  CHECK(cost(fast).ff > cost(slow).ff);
  // Few multipliers stand far from most of the blocks that their weights are in.
  const Design few = long_rows(200, 1);
  CHECK(fast.folding.at("a").weight_stages == 0);
  CHECK(few.folding.at("a").weight_stages == 2);
  CHECK(few.folding.at("a").operand_stages == 2);  // in time for the weights
}

TEST_CASE("a technology that knows no wires gets the stages of the one that does") {
  const Design slow = long_rows(50, 20, "xc7"), fast = long_rows(200, 20, "xc7");
  CHECK(fast.folding == long_rows(200).folding);
  CHECK(slow.folding == long_rows(50).folding);
  // By its own paths, which end before any wire, no stage would be wanted.
  CHECK(clock(slow, technology_of("xc7")).mhz > 200);
}

TEST_CASE("a record of a fold keeps its pipeline stages") {
  const Fold fold = long_rows(200).folding.at("a");
  CHECK(fold_of(fold_tree(fold)) == fold);
  for (const StageKind& kind : stage_kinds) {
    Tree damaged = fold_tree(fold);
    damaged[kind.key] = -1;
    CHECK_THAT(message_of(Fault::file, [&] { fold_of(damaged); }), Catch::Contains("damaged fold"));
  }
  Tree late = fold_tree(fold);
  late["weight_stages"] = 2;  // of one operand stage
  CHECK_THAT(message_of(Fault::file, [&] { fold_of(late); }), Catch::Contains("damaged fold"));
}

TEST_CASE("a technology without delays is refused by name") {
  CHECK_THAT(message_of(Fault::config, [] { technology_of("ice40"); }),
             Catch::Contains("'ice40'") && Catch::Contains("ecp5, xc7"));
}
