// SPDX-License-Identifier: Apache-2.0
// The window modules in RTL: windows, pools and reductions against plain loops over the image, and
// their handshake models in lockstep.
#include <algorithm>
#include <catch2/catch.hpp>

#include "hardware/design/modules/argmax.hpp"
#include "hardware/design/modules/pool.hpp"
#include "hardware/design/modules/reduce.hpp"
#include "hardware/design/modules/window.hpp"
#include "hardware/design/modules/window_parallel.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::Codes;
using integer::FixedType;
using integer::Wide;

constexpr std::int64_t kWindowFrames = 40;

struct Shape {
  std::int64_t h = 1, w = 1, kh = 1, kw = 1, sh = 1, sw = 1, ph = 0, pw = 0;
  std::int64_t dy = 1, dx = 1;           ///< dilation
  std::int64_t bottom = ph, right = pw;  ///< padding behind the image
  std::int64_t reach_h() const { return (kh - 1) * dy + 1; }
  std::int64_t reach_w() const { return (kw - 1) * dx + 1; }
  bool fits() const { return h + ph + bottom >= reach_h() && w + pw + right >= reach_w(); }
  std::int64_t out_h() const { return (h + ph + bottom - reach_h()) / sh + 1; }
  std::int64_t out_w() const { return (w + pw + right - reach_w()) / sw + 1; }
};

FixedType random_pixel_type(Random& random) {
  constexpr int widths[] = {8, 1, 3, 5, 12};
  return {widths[random.below(5)], 0, random.below(2) == 0};
}

/// Any shape whose kernel fits, square or not, with strides that need not divide, dilation, more
/// padding on one side than on the other, first rows and columns left out.
Shape random_shape(Random& random, bool padding_below_kernel) {
  for (;;) {
    Shape s{between(random, 1, 8), between(random, 1, 8), between(random, 1, 4),
            between(random, 1, 4), between(random, 1, 3), between(random, 1, 3)};
    if (random.below(2) == 0) s.kw = s.kh;
    if (random.below(2) == 0) s.sh = s.sw = 1;
    s.ph = random.below(2) == 0 ? 0 : between(random, 0, 2);
    s.pw = random.below(2) == 0 ? s.ph : between(random, 0, 2);
    if (random.below(3) == 0) s.dy = between(random, 1, 3);
    if (random.below(3) == 0) s.dx = between(random, 1, 3);
    s.bottom = random.below(2) == 0 ? s.ph : between(random, 0, 3);
    s.right = random.below(2) == 0 ? s.pw : between(random, 0, 3);
    if (random.below(6) == 0) s.ph = -between(random, 0, s.h - 1);
    if (random.below(6) == 0) s.pw = -between(random, 0, s.w - 1);
    if (random.below(6) == 0) s.bottom = -between(random, 0, s.h - 1);
    const bool below = s.ph < s.reach_h() && s.pw < s.reach_w();
    if (s.fits() && (!padding_below_kernel || below)) return s;
  }
}

/// For every output pixel and block: (ky, kx, channel of the block).
Codes windows(const Shape& s, const Codes& images, std::int64_t channels, std::int64_t blocks,
              std::int64_t pad) {
  Codes result;
  const std::int64_t block = channels / blocks, kernel = s.kh * s.kw;
  const auto code = [&](std::int64_t frame, std::int64_t y, std::int64_t x, std::int64_t c) {
    if (y < 0 || y >= s.h || x < 0 || x >= s.w) return pad;
    return images[static_cast<std::size_t>(((frame * s.h + y) * s.w + x) * channels + c)];
  };
  const auto frames = static_cast<std::int64_t>(images.size()) / (s.h * s.w * channels);
  for (std::int64_t o = 0; o < frames * s.out_h() * s.out_w(); ++o)
    for (std::int64_t i = 0; i < kernel * channels; ++i) {
      const std::int64_t k = i / block % kernel;
      result.push_back(code(
          o / (s.out_w() * s.out_h()), o / s.out_w() % s.out_h() * s.sh - s.ph + k / s.kw * s.dy,
          o % s.out_w() * s.sw - s.pw + k % s.kw * s.dx, i / (kernel * block) * block + i % block));
    }
  return result;
}

design::WindowGeometry geometry(const Shape& s, std::int64_t beats) {
  return {s.h, s.w, beats, s.kh, s.kw, s.sh, s.sw, s.dy, s.dx, s.ph, s.pw, s.out_h(), s.out_w()};
}

design::Sized pad_code(std::int64_t pad, const FixedType& type) {
  return {pad, type.width, type.is_signed};
}

Case window_case(Random& random, const Shape& s, std::int64_t blocks, std::int64_t beats,
                 std::int64_t lanes) {
  const FixedType type = random_pixel_type(random);
  const std::int64_t pad = random_codes(random, type, 1)[0];
  const std::int64_t channels = blocks * beats * lanes;
  const Port in{lanes, type, random_codes(random, type, kWindowFrames * s.h * s.w * channels)};
  const design::WindowModule module{geometry(s, blocks * beats), blocks, lanes, type.width,
                                    pad_code(pad, type)};
  return case_of(module, {in}, {{lanes, type, windows(s, in.codes, channels, blocks, pad)}});
}

Case parallel_case(Random& random, const Shape& s, std::int64_t beats = 1) {
  const FixedType type = random_pixel_type(random);
  const std::int64_t pad = random_codes(random, type, 1)[0], lanes = between(random, 1, 3);
  const std::int64_t channels = beats * lanes;
  const Port in{lanes, type, random_codes(random, type, kWindowFrames * s.h * s.w * channels)};
  const design::WindowParallelModule module{geometry(s, beats), lanes, type.width,
                                            pad_code(pad, type)};
  return case_of(module, {in},
                 {{s.kh * s.kw * lanes, type, windows(s, in.codes, channels, beats, pad)}});
}

TEST_CASE("windows in RTL are those of the padded image, frame after frame") {
  Random random(11);
  std::vector<Case> cases;
  for (int i = 0; i < 48; ++i) {
    const Shape s = random_shape(random, false);
    cases.push_back(window_case(random, s, between(random, 1, 3), between(random, 1, 3),
                                between(random, 1, 3)));
  }
  // One pixel of an image, one-dimensional images, kernels that just fit, more padding than kernel.
  for (const Shape& s : {Shape{5, 7, 1, 1, 2, 3},
                         {6, 6, 1, 1},
                         {9, 1, 3, 1, 1, 1, 1, 0},
                         {1, 9, 1, 3, 1, 2, 0, 1},
                         {4, 4, 4, 4, 4, 4},
                         {1, 1, 3, 3, 1, 1, 1, 1},
                         {3, 3, 1, 1, 2, 2, 2, 2},
                         {9, 9, 2, 2, 4, 4},
                         {7, 8, 1, 1, 2, 3, -1, -2},
                         {7, 8, 1, 1, 1, 1, -3, -4, 1, 1, -2, -3},
                         {5, 5, 1, 1, 1, 1, 0, 0, 1, 1, 2, 3},
                         {6, 6, 3, 3, 1, 1, 2, 2, 2, 2},
                         {6, 6, 2, 2, 1, 1, 0, 0, 1, 1, 1, 1}})
    cases.push_back(window_case(random, s, 1, between(random, 1, 2), 1));
  check_cases(cases, kWindowFrames);
}

TEST_CASE("whole windows in RTL are those of the padded image, frame after frame") {
  Random random(12);
  std::vector<Case> cases;
  for (int i = 0; i < 30; ++i) cases.push_back(parallel_case(random, random_shape(random, true)));
  for (const Shape& s : {Shape{6, 6, 3, 3, 1, 1, 1, 1},
                         {6, 5, 3, 3, 2, 2, 1, 1},
                         {1, 1, 1, 1},
                         {9, 1, 3, 1, 1, 1, 1, 0},
                         {4, 4, 4, 4},
                         {1, 1, 3, 3, 1, 1, 1, 1},
                         {7, 7, 3, 3, 1, 1, 2, 2, 2, 2},
                         {6, 6, 2, 2, 1, 1, 0, 0, 1, 1, 1, 1},
                         {7, 6, 2, 2, 2, 1, -1, -2}})
    cases.push_back(parallel_case(random, s));
  check_cases(cases, kWindowFrames);
}

TEST_CASE("whole windows in RTL of pixels of several beats are those of each beat's lanes") {
  Random random(15);
  std::vector<Case> cases;
  for (int i = 0; i < 20; ++i)
    cases.push_back(parallel_case(random, random_shape(random, true), 2 + i % 5));
  // Block memory between taps and for lines, one pixel, one column, taps two, three and more beats
  // apart.
  for (const auto& [s, beats] :
       std::vector<std::pair<Shape, std::int64_t>>{{{3, 3, 3, 3, 1, 1, 1, 1}, 70},
                                                   {{2, 9, 3, 3, 1, 1, 1, 1}, 40},
                                                   {{5, 3, 2, 3, 1, 1, 0, 1}, 33},
                                                   {{1, 1, 3, 3, 1, 1, 1, 1}, 4},
                                                   {{1, 1, 1, 1}, 3},
                                                   {{9, 1, 3, 1, 1, 1, 1, 0}, 5},
                                                   {{7, 7, 5, 5, 2, 2, 2, 2}, 3},
                                                   {{7, 7, 3, 3, 1, 1, 2, 2, 2, 2}, 3},
                                                   {{7, 7, 3, 3, 1, 1, 2, 2, 2, 2}, 1},
                                                   {{8, 8, 3, 3, 1, 1, 3, 3, 3, 3}, 1},
                                                   {{6, 6, 3, 3, 2, 2, 1, 1}, 2},
                                                   {{6, 6, 2, 2, 1, 1, 0, 0, 1, 1, 1, 1}, 2},
                                                   {{7, 6, 2, 2, 2, 1, -1, -2}, 4}})
    cases.push_back(parallel_case(random, s, beats));
  check_cases(cases, kWindowFrames);
}

/// What pool and reduce do with the values of one window.
struct Reduction {
  bool sum = false;
  integer::Requantise requantise;

  std::int64_t operator()(const Codes& values) const {
    Wide total = values.front();
    for (std::size_t i = 1; i < values.size(); ++i)
      total = sum ? total + values[i] : std::max<Wide>(total, values[i]);
    return static_cast<std::int64_t>(requantise(total));
  }
};

struct ReductionTypes {
  FixedType in, out;
  Reduction reduction;
  design::LaneReduction lanes;
};

ReductionTypes random_reduction(Random& random, std::int64_t lanes, std::int64_t count) {
  ReductionTypes t;
  t.in = random_pixel_type(random);
  t.out = random_pixel_type(random);
  t.reduction.sum = random.below(2) == 0;
  const std::int64_t divisor = t.reduction.sum && random.below(2) == 0 ? count : 1;
  t.reduction.requantise =
      random_requantise(random, t.out, static_cast<int>(between(random, -1, 2)), divisor);
  const Wide times = t.reduction.sum ? count : 1;
  const int width = integer::signed_width(times * t.in.low(), times * t.in.high());
  t.lanes = {design::requantisation(t.reduction.requantise, t.out),
             lanes,
             t.in.width,
             t.in.is_signed,
             t.reduction.sum,
             width};
  return t;
}

/// Every group of kh*kw pixels, channel by channel: the windows that do not overlap.
Codes pooled(const Shape& s, const Codes& image, std::int64_t channels,
             const Reduction& reduction) {
  const Codes all = windows(s, image, channels, channels, 0);
  Codes result;
  const std::int64_t k = s.kh * s.kw;
  for (auto at = all.begin(); at != all.end(); at += k)
    result.push_back(reduction(Codes(at, at + k)));
  return result;
}

Case pool_case(Random& random, const Shape& s) {
  const std::int64_t lanes = between(random, 1, 3), beats = between(random, 1, 4);
  const std::int64_t channels = lanes * beats;
  const ReductionTypes t = random_reduction(random, lanes, s.kh * s.kw);
  const Port in{lanes, t.in, random_codes(random, t.in, kWindowFrames * s.h * s.w * channels)};
  const design::PoolModule module{t.lanes, s.h, s.w, beats, s.kh, s.kw};
  return case_of(module, {in}, {{lanes, t.out, pooled(s, in.codes, channels, t.reduction)}});
}

TEST_CASE("pools in RTL reduce windows that do not overlap") {
  Random random(13);
  std::vector<Case> cases;
  for (int i = 0; i < 40; ++i) {
    Shape s{between(random, 1, 7), between(random, 1, 7)};
    s.kh = s.sh = i % 5 == 0 ? s.h : between(random, 1, s.h);
    s.kw = s.sw = i % 5 == 0 ? s.w : between(random, 1, s.w);
    cases.push_back(pool_case(random, s));
  }
  check_cases(cases, kWindowFrames);
}

TEST_CASE("reductions in RTL give one beat for N") {
  Random random(14);
  std::vector<Case> cases;
  for (int i = 0; i < 24; ++i) {
    const std::int64_t n = i < 4 ? i + 1 : between(random, 1, 25), lanes = between(random, 1, 3);
    const ReductionTypes t = random_reduction(random, lanes, n);
    const Port in{lanes, t.in, random_codes(random, t.in, kWindowFrames * 2 * n * lanes)};
    const Shape row{2, n, 1, n, 1, n};
    cases.push_back(case_of(design::ReduceModule{t.lanes, n}, {in},
                            {{lanes, t.out, pooled(row, in.codes, lanes, t.reduction)}}));
  }
  check_cases(cases, kWindowFrames);
}

/// The least place of the largest of every `row` codes.
Codes places_of_maxima(const Codes& codes, std::int64_t row) {
  Codes places;
  for (auto at = codes.begin(); at != codes.end(); at += row)
    places.push_back(std::max_element(at, at + row) - at);
  return places;
}

Case argmax_case(Random& random, std::int64_t beats, std::int64_t lanes) {
  const FixedType type = random_pixel_type(random);
  const std::int64_t row = beats * lanes;
  const FixedType place = integer::type_for(0, row - 1, 0);
  const Port in{lanes, type, random_codes(random, type, kWindowFrames * 2 * row)};
  const design::ArgmaxModule module{.beats = beats,
                                    .lanes = lanes,
                                    .in_bits = type.width,
                                    .in_signed = type.is_signed,
                                    .out_bits = place.width};
  return case_of(module, {in}, {{1, place, places_of_maxima(in.codes, row)}});
}

TEST_CASE("places of maxima in RTL are the first of equal ones") {
  Random random(15);
  std::vector<Case> cases;
  for (std::int64_t lanes = 1; lanes <= 9; ++lanes)
    for (const std::int64_t beats : {std::int64_t{1}, std::int64_t{2}, between(random, 3, 9)})
      cases.push_back(argmax_case(random, beats, lanes));
  cases.push_back(argmax_case(random, 3, 17));
  check_cases(cases, kWindowFrames);
}

}  // namespace
}  // namespace mase::rtl_test
