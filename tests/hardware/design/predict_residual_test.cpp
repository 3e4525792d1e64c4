// SPDX-License-Identifier: Apache-2.0
// Forks that meet again: the FIFO depths found are enough, and smaller ones deadlock or slow down.
#include <catch2/catch.hpp>

#include <random>

#include "base/error.hpp"
#include "hardware/design/build.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/predict.hpp"
#include "hardware/design/timing/schedule.hpp"
#include "programs.hpp"

using namespace mase;
using namespace mase::design;
using mase::test::find_instance;
using mase::test::ProgramMaker;
using mase::test::square;

namespace {

Design residual_linear(std::int64_t simd, std::int64_t pe) {
  ProgramMaker maker;
  auto x = maker.input("x", {64});
  maker.output(maker.add("add", maker.linear("fc", x, 64, 64), x));
  return build(maker.share(), {{"fc", {simd, pe}}, {"add", {pe, pe}}});
}

Instance& instance_of(Design& design, const std::string& name) {
  return const_cast<Instance&>(*find_instance(design, name));
}

std::vector<std::string> fifos(const Design& design) {
  std::vector<std::string> names;
  for (const Instance& instance : design.instances)
    if (is_a<FifoModule>(instance)) names.push_back(instance.name);
  return names;
}

/// Whether `frames` frames pass when every side pauses at random.
bool survives_stalls(const Design& design, unsigned seed, std::int64_t frames) {
  std::vector<std::unique_ptr<Handshake>> handshakes;
  for (const Instance& instance : design.instances) handshakes.push_back(table_handshake(instance));
  std::mt19937 random(seed);
  std::vector<std::uint8_t> valid(design.streams.size()), ready(valid.size());
  std::vector<std::int64_t> moved(valid.size());
  std::vector<bool> offered(valid.size());
  const auto at = [](StreamId id) { return static_cast<std::size_t>(id); };
  for (std::int64_t quiet = 0; quiet < 5000; ++quiet) {
    for (std::size_t n = 0; n < handshakes.size(); ++n) {
      const Instance& instance = design.instances[n];
      for (std::size_t i = 0; i < instance.inputs.size(); ++i)
        ready[at(instance.inputs[i])] = handshakes[n]->ready(static_cast<int>(i));
      for (std::size_t o = 0; o < instance.outputs.size(); ++o)
        valid[at(instance.outputs[o])] = handshakes[n]->valid(static_cast<int>(o));
    }
    for (StreamId id : design.inputs) {
      const bool more = moved[at(id)] < frames * design.stream(id).beats();
      offered[at(id)] = more && (offered[at(id)] || random() % 100 < 40);
      valid[at(id)] = offered[at(id)];
    }
    for (StreamId id : design.outputs) ready[at(id)] = random() % 100 < 40;
    for (std::size_t s = 0; s < valid.size(); ++s)
      if (valid[s] && ready[s]) {
        ++moved[s];
        offered[s] = false;
        quiet = 0;
      }
    for (std::size_t n = 0; n < handshakes.size(); ++n) {
      const Instance& instance = design.instances[n];
      std::vector<std::uint8_t> taken, given;
      for (StreamId id : instance.inputs) taken.push_back(valid[at(id)] && ready[at(id)]);
      for (StreamId id : instance.outputs) given.push_back(valid[at(id)] && ready[at(id)]);
      handshakes[n]->clock(taken, given);
    }
  }
  for (StreamId id : design.outputs)
    if (moved[at(id)] != frames * design.stream(id).beats()) return false;
  return true;
}

}  // namespace

TEST_CASE(
    "the FIFO beside a folded linear gets the depth that the branch takes in, less its skids") {
  // The linear takes SF = 16 beats before it gives one. The short branch holds 2 in the fork's
  // skid, DEPTH + 1 in the FIFO and 2 in the skid of the sum: DEPTH = 11.
  Design design = residual_linear(4, 4);
  CHECK(fifos(design) == std::vector<std::string>{"fifo_add_1"});
  CHECK(depth_of(instance_of(design, "fifo_add_1")) == 11);
  CHECK(design.timing.interval == 256);
  CHECK(survives_stalls(design, 1, 5));
  set_depth(instance_of(design, "fifo_add_1"), 10);
  CHECK_THROWS_WITH(predict(design), Catch::Contains("deadlocks") && Catch::Contains("fork_x"));
  CHECK_FALSE(survives_stalls(design, 1, 5));
  set_depth(instance_of(design, "fifo_add_1"), 100);
  CHECK(predict(design).last == design.timing.last);
}

TEST_CASE("nested residual blocks never deadlock") {
  ProgramMaker maker;
  auto x = maker.input("x", {32});
  auto a = maker.linear("a", x, 32, 32);
  auto b = maker.linear("b", a, 32, 32);
  auto inner = maker.add("inner", b, a);
  auto c = maker.linear("c", inner, 32, 32);
  maker.output(maker.add("outer", c, x));
  maker.output(inner);
  for (std::int64_t lanes : {1, 2, 8}) {
    const Fold fold{lanes, lanes};
    const Design design = build(
        maker.share(), {{"a", fold}, {"b", fold}, {"c", fold}, {"inner", fold}, {"outer", fold}});
    INFO("lanes " << lanes);
    CHECK(design.timing.interval == 32 / lanes * (32 / lanes));
    for (unsigned seed : {1U, 2U, 3U}) CHECK(survives_stalls(design, seed, 4));
  }
}

TEST_CASE("two inputs that cross between two sums never deadlock") {
  ProgramMaker maker;
  auto a = maker.input("a", {32}), b = maker.input("b", {32});
  maker.output(maker.add("add", maker.linear("fc1", a, 32, 32), b));
  maker.output(maker.add("sum", a, maker.linear("fc2", b, 32, 32)));
  const Design design = build(maker.share(), {{"fc1", {2, 2}}, {"fc2", {4, 1}}});
  CHECK(design.timing.interval == 256);
  for (unsigned seed : {1U, 2U, 3U}) CHECK(survives_stalls(design, seed, 4));
}

TEST_CASE("a residual around a convolution holds back what the window keeps") {
  ProgramMaker maker;
  auto x = maker.input("x", {6, 6, 2});
  const integer::Window window = square(6, 2, 3, 1, 1);
  maker.output(maker.add("add", maker.convolution("conv", x, window, 2), x));
  Design design = build(maker.share(), {{"conv", {2, 1}}, {"add", {2, 2}}});
  CHECK(fifos(design) == std::vector<std::string>{"fifo_add_1"});
  // The first output pixel needs the pixels up to (1, 1), 8 beats; the last one is at most W + 1
  // pixels behind the input, and a row of the ring is filled ahead.
  const std::int64_t depth = depth_of(instance_of(design, "fifo_add_1"));
  CHECK(depth >= 8 - 5);
  CHECK(depth <= 3 * 6);
  for (unsigned seed : {1U, 2U, 3U}) CHECK(survives_stalls(design, seed, 4));
}

TEST_CASE("concatenated branches of one value never deadlock") {
  ProgramMaker maker;
  auto x = maker.input("x", {4, 4, 4});
  const integer::Window window = square(4, 4, 3, 1, 1), point = square(4, 4, 1);
  auto a = maker.convolution("a", x, point, 4), b = maker.convolution("b", x, window, 8);
  maker.output(maker.step("cat", integer::Concat{16}, {a, b, x}, {4, 4, 16}));
  const Design design = build(maker.share(), {{"a", {2, 1}}, {"b", {1, 4}}, {"cat", {2, 2}}});
  for (unsigned seed : {1U, 2U, 3U}) CHECK(survives_stalls(design, seed, 4));
  const Design fast = build(maker.share(), {{"a", {4, 4}}, {"b", {4, 8}}, {"cat", {4, 4}}});
  for (unsigned seed : {1U, 2U, 3U}) CHECK(survives_stalls(fast, seed, 4));
}
