// SPDX-License-Identifier: Apache-2.0
// Laws of the window family's handshake models: first beats, intervals, and counts under stalls,
// from formulas and hand counts.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "hardware/design/modules/argmax.hpp"
#include "hardware/design/modules/pool.hpp"
#include "hardware/design/modules/reduce.hpp"
#include "hardware/design/modules/window.hpp"
#include "hardware/design/modules/window_parallel.hpp"

namespace mase::design {
namespace {

struct Shape {
  std::int64_t h, w, k, s, p, beats;
  std::int64_t d = 1, after = p;  ///< dilation; padding behind the image, p before it
  std::int64_t reach() const { return (k - 1) * d + 1; }
  bool fits() const { return std::min(h, w) + p + after >= reach(); }
  std::int64_t out_h() const { return (h + p + after - reach()) / s + 1; }
  std::int64_t out_w() const { return (w + p + after - reach()) / s + 1; }
};

WindowGeometry geometry(const Shape& s) {
  return {s.h, s.w, s.beats, s.k, s.k, s.s, s.s, s.d, s.d, s.p, s.p, s.out_h(), s.out_w()};
}

/// Cycles of the output beats, counted from the first input beat, of as many frames.
struct Run {
  std::vector<std::int64_t> beats;
  bool starved = false;  ///< it stopped before all beats were out

  std::int64_t interval(std::int64_t per_frame) const {
    return beats[beats.size() - 1] - beats[beats.size() - 1 - static_cast<std::size_t>(per_frame)];
  }
};

/// Offers `inputs` beats with probability 1 - stall_in per cycle, and takes likewise.
Run run(Handshake& model, std::int64_t inputs, std::int64_t outputs, double stall_in = 0,
        double stall_out = 0) {
  Run result;
  Random random(5);
  const auto pauses = [&](double stall) { return stall > 0 && random.uniform() < stall; };
  std::int64_t start = -1, quiet = 0;
  for (std::int64_t cycle = 0; quiet < 200; ++cycle) {
    const std::uint8_t taken = inputs > 0 && model.ready(0) && !pauses(stall_in);
    const std::uint8_t given = model.valid(0) && !pauses(stall_out);
    if (taken != 0 && start < 0) start = cycle;
    if (given != 0) result.beats.push_back(cycle - start);
    inputs -= taken;
    model.clock({&taken, 1}, {&given, 1});
    quiet = taken != 0 || given != 0 ? 0 : quiet + 1;
  }
  result.starved = static_cast<std::int64_t>(result.beats.size()) < outputs || inputs > 0;
  return result;
}

constexpr std::int64_t kFrames = 12;

TEST_CASE("a window's first beats come as soon as their pixels allow") {
  // A folded linear behind it adds 6 cycles after the window's last beat, and the two together give
  // the first result at max(((K-1-P)*W + K-P)*C + 8, K*K*C + 7), a cycle later where padding waits
  // for the frame.
  for (const Shape& s : {Shape{8, 8, 3, 2, 1, 2},
                         {8, 8, 3, 1, 1, 1},
                         {6, 6, 2, 2, 0, 4},
                         {9, 9, 5, 3, 2, 1},
                         {28, 28, 5, 1, 0, 1},
                         {4, 4, 3, 1, 1, 3}}) {
    const auto model = WindowModule{geometry(s)}.handshake(Stages::all);
    const std::int64_t window = s.k * s.k * s.beats;
    const Run result = run(*model, s.h * s.w * s.beats, window);
    INFO(s.h << "x" << s.w << ", kernel " << s.k << ", padding " << s.p);
    const std::int64_t pixels = ((s.k - 1 - s.p) * s.w + s.k - s.p) * s.beats;
    CHECK(result.beats[static_cast<std::size_t>(window - 1)] + 6 ==
          std::max(pixels + 8, window + (s.p > 0 ? 8 : 7)));
  }
}

TEST_CASE("a window's interval is the greater of its input and its output") {
  // The ring of K + S rows holds most of the next frame's first window while the last one is read.
  // 14x14, kernel 5: it has 6 * 14 - 61 = 23 of 61 pixels. Row 4 needs pixel 57, 34 cycles later,
  // and its turn is after 20: 14 cycles are lost.
  using Row = std::pair<Shape, std::int64_t>;
  for (const auto& [s, lost] :
       {Row{{8, 8, 3, 2, 1, 2}, 0}, Row{{8, 8, 3, 1, 1, 1}, 0}, Row{{6, 6, 2, 2, 0, 4}, 0},
        Row{{9, 9, 5, 3, 2, 1}, 0}, Row{{14, 14, 5, 1, 0, 1}, 14}, Row{{8, 8, 1, 2, 0, 3}, 0}}) {
    const auto model = WindowModule{geometry(s)}.handshake(Stages::all);
    const std::int64_t in = s.h * s.w * s.beats;
    const std::int64_t out = s.out_h() * s.out_w() * s.k * s.k * s.beats;
    const Run result = run(*model, kFrames * in, kFrames * out);
    INFO(s.h << "x" << s.w << ", kernel " << s.k << ", stride " << s.s);
    REQUIRE_FALSE(result.starved);
    CHECK(result.interval(out) == std::max(in, out) + lost);
  }
}

TEST_CASE("a whole window leaves two cycles after its last pixel, and every pixel takes a cycle") {
  for (const Shape& s : {Shape{8, 8, 3, 1, 1, 1},
                         {8, 8, 3, 2, 1, 1},
                         {9, 7, 5, 1, 2, 1},
                         {12, 12, 5, 1, 0, 1},
                         {6, 6, 2, 2, 0, 1},
                         {5, 5, 1, 1, 0, 1}}) {
    const auto model = WindowParallelModule{geometry(s)}.handshake(Stages::all);
    const std::int64_t out = s.out_h() * s.out_w();
    const Run result = run(*model, kFrames * s.h * s.w, kFrames * out);
    INFO(s.h << "x" << s.w << ", kernel " << s.k << ", padding " << s.p);
    REQUIRE_FALSE(result.starved);
    CHECK(result.beats[0] == (s.k - 1 - s.p) * s.w + s.k - 1 - s.p + 2);
    CHECK(result.interval(out) == s.h * s.w);
  }
}

TEST_CASE("a whole window of pixels of several beats takes a cycle for every beat") {
  for (const Shape& s : {Shape{8, 8, 3, 1, 1, 2},
                         {8, 8, 3, 2, 1, 5},
                         {9, 7, 5, 1, 2, 3},
                         {6, 6, 2, 2, 0, 4},
                         {7, 7, 3, 1, 2, 3, 2}}) {
    const auto model = WindowParallelModule{geometry(s)}.handshake(Stages::all);
    const std::int64_t in = s.h * s.w * s.beats, out = s.out_h() * s.out_w() * s.beats;
    const Run result = run(*model, kFrames * in, kFrames * out);
    INFO(s.h << "x" << s.w << ", kernel " << s.k << ", padding " << s.p << ", beats " << s.beats);
    REQUIRE_FALSE(result.starved);
    // The first window waits for the first beat of its last pixel.
    const std::int64_t pixels = (s.reach() - 1 - s.p) * s.w + s.reach() - 1 - s.p;
    CHECK(result.beats[0] == pixels * s.beats + 2);
    CHECK(result.interval(out) == in);
  }
}

TEST_CASE("a pool gives a beat three cycles after the last beat of each window") {
  // 5x4 pixels of two beats, windows 2x2: the last pixels are 5, 7, 13, 15 (row 4 is dropped).
  const auto model = PoolModule{{}, 5, 4, 2, 2, 2}.handshake(Stages::all);
  const Run result = run(*model, 40, 8);
  CHECK(result.beats == std::vector<std::int64_t>{13, 14, 17, 18, 29, 30, 33, 34});
  const auto nine = ReduceModule{{}, 9}.handshake(Stages::all);
  CHECK(run(*nine, 27, 3).beats == std::vector<std::int64_t>{11, 20, 29});
}

TEST_CASE("a place of a maximum comes behind a tree and two registers") {
  const auto places = [](std::int64_t n, std::int64_t lanes) {
    const auto model = ArgmaxModule{.beats = n, .lanes = lanes}.handshake(Stages::all);
    return run(*model, 3 * n, 3).beats;
  };
  // The last of n beats, a register for each doubling of the lanes, the row's register, the skid.
  CHECK(places(4, 1) == std::vector<std::int64_t>{5, 9, 13});
  CHECK(places(2, 8) == std::vector<std::int64_t>{6, 8, 10});
  CHECK(places(1, 5) == std::vector<std::int64_t>{5, 6, 7});
}

TEST_CASE("windows give every frame's beats and no more under any stalls") {
  Random random(6);
  for (int i = 0; i < 300; ++i) {
    const auto draw = [&](std::uint64_t n) { return static_cast<std::int64_t>(random.below(n)); };
    Shape s{1 + draw(9), 1 + draw(9), 1 + draw(5), 1 + draw(4), draw(3), 1 + draw(3)};
    if (draw(2) == 0) s.d = 1 + draw(3);
    if (draw(2) == 0) s.after = draw(4);
    if (draw(4) == 0) s.p = -draw(std::min(s.h, s.w));
    if (!s.fits()) continue;
    const std::int64_t out = s.out_h() * s.out_w();
    INFO(s.h << "x" << s.w << ", kernel " << s.k << ", stride " << s.s << ", dilation " << s.d
             << ", padding " << s.p << " and " << s.after);
    for (const double stall_in : {0.0, 0.4, 0.9}) {
      const auto window = WindowModule{geometry(s)}.handshake(Stages::all);
      const std::int64_t beats = kFrames * out * s.k * s.k * s.beats;
      const Run folded = run(*window, kFrames * s.h * s.w * s.beats, beats, stall_in, 0.4);
      CHECK_FALSE(folded.starved);
      CHECK(static_cast<std::int64_t>(folded.beats.size()) == beats);
      if (s.p >= s.reach()) continue;
      const auto parallel = WindowParallelModule{geometry(s)}.handshake(Stages::all);
      const std::int64_t given = kFrames * out * s.beats;
      const Run whole = run(*parallel, kFrames * s.h * s.w * s.beats, given, stall_in, 0.4);
      CHECK_FALSE(whole.starved);
      CHECK(static_cast<std::int64_t>(whole.beats.size()) == given);
    }
  }
}

}  // namespace
}  // namespace mase::design
