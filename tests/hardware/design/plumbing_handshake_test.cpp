// SPDX-License-Identifier: Apache-2.0
// Properties of the handshake models under random pauses: each is a queue, so how many beats it
// holds says when it may be ready and must be valid.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "base/random.hpp"
#include "hardware/design/modules/binary.hpp"
#include "hardware/design/modules/block_join.hpp"
#include "hardware/design/modules/cast.hpp"
#include "hardware/design/modules/concat.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/modules/lookup.hpp"
#include "hardware/design/modules/scale_shift.hpp"
#include "hardware/design/modules/skid.hpp"
#include "hardware/design/modules/slice.hpp"
#include "hardware/design/modules/stream_fork.hpp"
#include "hardware/design/modules/stream_resize.hpp"

namespace mase::design {
namespace {

template <HardwareModule T>
std::unique_ptr<Handshake> make(const T& module) {
  return module.handshake(Stages::all);
}

std::unique_ptr<Handshake> fifo_of(std::int64_t depth) {
  return make(FifoModule{.width = 8, .depth = depth});
}

struct Traffic {
  std::int64_t in = 0, out = 0;  ///< beats
  std::int64_t most = 0;         ///< beats inside, counted in input beats
};

/// Runs a module of one input and one output with pauses at both sides, and checks that an output
/// that is not taken stays valid. One input beat makes `outs_per_in` output beats.
Traffic run(Handshake& model, std::int64_t cycles, double pause_in, double pause_out,
            double outs_per_in = 1) {
  Random random(11);
  Traffic traffic;
  bool held = false;
  for (std::int64_t cycle = 0; cycle < cycles; ++cycle) {
    const bool valid = model.valid(0);
    if (held) REQUIRE(valid);
    const std::uint8_t taken = model.ready(0) && random.uniform() >= pause_in;
    const std::uint8_t given = valid && random.uniform() >= pause_out;
    held = valid && !given;
    model.clock({&taken, 1}, {&given, 1});
    traffic.in += taken;
    traffic.out += given;
    const double inside =
        static_cast<double>(traffic.in) - static_cast<double>(traffic.out) / outs_per_in;
    REQUIRE(inside >= 0);
    traffic.most = std::max(traffic.most, static_cast<std::int64_t>(inside));
  }
  return traffic;
}

TEST_CASE("beats that wait in a join of blocks leave it in cycles one after another") {
  // They come a few cycles apart. A folded layer reads a row of them at once, then none for long.
  const auto join = make(BlockJoinModule{});
  const auto cycle = [&](bool offers, bool reads) {
    const std::uint8_t taken[] = {offers && join->ready(0), offers && join->ready(1)};
    const std::uint8_t given = reads && join->valid(0);
    join->clock(taken, {&given, 1});
    return given != 0;
  };
  for (int i = 0; i < 16; ++i) cycle(i % 4 == 0, false);
  for (int beat = 0; beat < 4; ++beat) CHECK(cycle(false, true));
  CHECK_FALSE(cycle(false, true));
}

TEST_CASE("a handshake model at full rate moves a beat per cycle") {
  const std::int64_t cycles = 200;
  CHECK(run(*make(SkidModule{}), cycles, 0, 0).out >= cycles - 3);
  CHECK(run(*make(CastModule{}), cycles, 0, 0).out >= cycles - 3);
  CHECK(run(*make(LookupModule{}), cycles, 0, 0).out >= cycles - 3);
  CHECK(run(*fifo_of(2), cycles, 0, 0).out == cycles - 2);
  for (const bool has_shift : {false, true}) {
    ScaleShiftModule module;
    module.has_shift = has_shift;
    CHECK(run(*make(module), cycles, 0, 0).out == cycles - 6);
  }
}

TEST_CASE("a handshake model whose output is blocked fills to its capacity and loses nothing") {
  for (const std::int64_t depth : {1, 2, 5, 64})
    CHECK(run(*fifo_of(depth), 300, 0, 1).in == depth + 1);
  CHECK(run(*make(SkidModule{}), 10, 0, 1).in == 2);
  auto fifo = fifo_of(7);
  REQUIRE(run(*fifo, 50, 0, 1).in == 8);
  std::int64_t drained = 0;
  for (int cycle = 0; cycle < 50; ++cycle) {
    const std::uint8_t none = 0, given = fifo->valid(0);
    fifo->clock({&none, 1}, {&given, 1});
    drained += given;
  }
  CHECK(drained == 8);
}

TEST_CASE("a handshake model under pauses holds what it offers and never gives more than it took") {
  for (const double pause_in : {0.0, 0.4, 0.9})
    for (const double pause_out : {0.0, 0.4, 0.9}) {
      CHECK(run(*make(SkidModule{}), 2000, pause_in, pause_out).most <= 2);
      CHECK(run(*make(CastModule{}), 2000, pause_in, pause_out).most <= 3);
      CHECK(run(*fifo_of(4), 2000, pause_in, pause_out).most <= 5);
    }
}

std::unique_ptr<Handshake> resize_of(std::int64_t in, std::int64_t out) {
  return make(ResizeModule{.width = 8, .in_lanes = in, .out_lanes = out});
}

TEST_CASE("width converters move a beat per cycle on their narrow side") {
  for (const std::int64_t ratio : {2, 3, 8}) {
    CAPTURE(ratio);
    const Traffic down = run(*resize_of(ratio, 1), 400, 0, 0, double(ratio));
    CHECK(down.out == 400 - 2);
    const Traffic up = run(*resize_of(1, ratio), 400, 0, 0, 1.0 / double(ratio));
    CHECK(up.in == 400);
    CHECK(up.out == (400 - 1) / ratio);
  }
  // 5 lanes are 5/3 of a beat of 3.
  CHECK(run(*resize_of(5, 3), 400, 0, 0, 5.0 / 3).out == 400 - 2);
  const Traffic up = run(*resize_of(3, 5), 400, 0, 0, 3.0 / 5);
  CHECK(up.in == 400);
  CHECK(up.out == (400 - 1) * 3 / 5);
}

TEST_CASE("a fork gives every beat to all of its outputs, however long one of them waits") {
  auto fork = make(ForkModule{.outputs = 3});
  Random random(5);
  std::int64_t in = 0;
  std::int64_t out[3] = {};
  for (int cycle = 0; cycle < 3000; ++cycle) {
    const std::uint8_t taken = fork->ready(0);
    std::uint8_t given[3];
    for (int i = 0; i < 3; ++i)
      given[i] = fork->valid(i) && random.below(static_cast<std::uint64_t>(i) + 2) == 0;
    fork->clock({&taken, 1}, given);
    in += taken;
    for (int i = 0; i < 3; ++i) {
      out[i] += given[i];
      REQUIRE(in - out[i] >= 0);
      REQUIRE(in - out[i] <= 2);
    }
  }
}

TEST_CASE("concat takes its inputs in turn and slice drops what is outside") {
  auto concat = make(ConcatModule{.first = 2, .second = 3});
  std::string order;
  for (int cycle = 0; cycle < 12; ++cycle) {
    const std::uint8_t taken[2] = {concat->ready(0), concat->ready(1)};
    const std::uint8_t given = concat->valid(0);
    REQUIRE(taken[0] + taken[1] == 1);
    order += taken[0] ? 'a' : 'b';
    concat->clock(taken, {&given, 1});
  }
  CHECK(order == "aabbbaabbbaa");
  auto slice = make(SliceModule{.beats = 5, .first = 1, .count = 2});
  std::string valid;
  for (int cycle = 0; cycle < 11; ++cycle) {
    const std::uint8_t taken = slice->ready(0), given = slice->valid(0);
    valid += given ? '1' : '0';
    slice->clock({&taken, 1}, {&given, 1});
  }
  CHECK(valid == "00110001100");
}

TEST_CASE("a join waits for both of its inputs") {
  auto join = make(BinaryModule{});
  const std::uint8_t only_first[2] = {1, 0}, none = 0;
  join->clock(only_first, {&none, 1});
  for (int cycle = 0; cycle < 20; ++cycle) {
    const std::uint8_t taken[2] = {join->ready(0), 0};
    join->clock(taken, {&none, 1});
    REQUIRE_FALSE(join->valid(0));
  }
  CHECK_FALSE(join->ready(0));
  CHECK(join->ready(1));
}

}  // namespace
}  // namespace mase::design
