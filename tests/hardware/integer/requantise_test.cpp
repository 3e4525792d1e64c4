// SPDX-License-Identifier: Apache-2.0
// Requantisation against rational arithmetic by repeated subtraction of fractions, and the kernels'
// 32-bit form against the definition.
#include <catch2/catch.hpp>

#include "base/random.hpp"
#include "hardware/integer/running/step_kernel.hpp"

using namespace mase;
using namespace mase::integer;
using formats::Rounding;

namespace {

/// The integer n with n <= code / denominator < n + 1, found by bisection on products only.
Wide floor_by_search(Wide code, Wide denominator) {
  Wide below = -(static_cast<Wide>(1) << 70), above = -below;
  while (above - below > 1) {
    const Wide middle = below + (above - below) / 2;
    (middle * denominator <= code ? below : above) = middle;
  }
  return below;
}

/// code' from the definition in words: the nearer of the two neighbours, the even one, or the one
/// further from 0, of two equally near ones.
Wide slow(const Requantise& r, Wide code) {
  Wide denominator = r.divisor;
  for (int i = 0; i < r.shift; ++i) denominator *= 2;
  for (int i = 0; i > r.shift; --i) code *= 2;
  Wide result = floor_by_search(code, denominator);
  if (r.rounding != Rounding::floor) {
    const Wide under = code - result * denominator, over = (result + 1) * denominator - code;
    const bool keeps = r.rounding == Rounding::nearest_even ? result % 2 == 0 : result < 0;
    if (over < under || (over == under && !keeps)) ++result;
  }
  if (result < r.low) return r.low;
  return result > r.high ? r.high : result;
}

std::vector<std::int64_t> interesting_codes(const Requantise& r, Random& random) {
  std::vector<std::int64_t> codes{0, 1, -1, 2, -2, 3, -3, 2147483647 / 4, -(2147483647 / 4)};
  const int shift = std::max(r.shift, 0);
  for (int i = -9; i < 9; ++i)
    for (int off = -1; off <= 1; ++off) codes.push_back(i * ((r.divisor << shift) / 2) + off);
  for (int i = 0; i < 40; ++i)
    codes.push_back(static_cast<std::int64_t>(random.next_u32() >> random.below(28)) / 8 *
                    (random.below(2) == 0 ? 1 : -1));
  return codes;
}

}  // namespace

TEST_CASE("requantisation equals rational arithmetic on ties, edges and random codes") {
  Random random(3);
  for (const std::int64_t divisor : {1, 3, 9, 49, 6})
    for (const int shift : {-5, -1, 0, 1, 2, 7, 20})
      for (const Rounding rounding :
           {Rounding::nearest_even, Rounding::floor, Rounding::nearest_away})
        for (const auto& [low, high] : std::vector<std::pair<int, int>>{
                 {-128, 127}, {0, 255}, {-3, 90}, {-2000000, 2000000}}) {
          const Requantise r{shift, divisor, rounding, low, high};
          for (const std::int64_t code : interesting_codes(r, random)) {
            INFO(code << " / " << divisor << " >> " << shift);
            CHECK(wide_text(r(code)) == wide_text(slow(r, code)));
            const auto narrow = NarrowRequantise::of(r, 40);
            REQUIRE(narrow);
            CHECK((*narrow)(code) == static_cast<std::int64_t>(r(code)));
          }
        }
}

TEST_CASE("requantisation holds at the widest accumulators and shifts") {
  const Wide most = (static_cast<Wide>(1) << 125) - 1;
  const Wide any = static_cast<Wide>(1) << 61;
  const Requantise near{125, 1, Rounding::nearest_even, -any, any};
  CHECK(near(most) == 1);  // just below 1
  CHECK(near(-most - 1) == -1);
  CHECK(near(static_cast<Wide>(1) << 124) == 0);  // one half, to even
  CHECK(near((static_cast<Wide>(1) << 124) + 1) == 1);
  const Requantise far{400, 1, Rounding::nearest_even, -any, any};
  CHECK(far(most) == 0);
  CHECK(far(-most) == 0);
  const Requantise down{400, 1, Rounding::floor, -any, any};
  CHECK(down(most) == 0);
  CHECK(down(-1) == -1);
  const Requantise away{126, 1, Rounding::nearest_away, -any, any};
  CHECK(away(most) == 0);
  CHECK(away(-most - 1) == -1);  // one half
  CHECK(away(-most) == 0);
  CHECK(Requantise{127, 1, Rounding::nearest_away, -any, any}(-most - 1) == 0);
  const Requantise thirds{126, 3, Rounding::nearest_even, -any, any};
  CHECK(thirds(most) == 0);
}

TEST_CASE("the 32-bit kernels requantise as the definition does") {
  Random random(4);
  for (const kernels::KernelTable* table : kernels::available_tables())
    for (const std::int64_t divisor : {1, 9})
      for (const int shift : {-3, 0, 1, 5, 12})
        for (const Rounding rounding :
             {Rounding::nearest_even, Rounding::floor, Rounding::nearest_away}) {
          Step step;
          step.requantise = {shift, divisor, rounding, -300, 299};
          step.low = -(1 << 27);
          step.high = 1 << 27;
          const auto fast = narrow_requantise(step);
          REQUIRE(fast);
          std::vector<std::int32_t> codes;
          for (const std::int64_t code : interesting_codes(step.requantise, random))
            if (code >= step.low && code <= step.high)
              codes.push_back(static_cast<std::int32_t>(code));
          std::vector<std::int16_t> out(codes.size());
          table->requantise_to_16(*fast, codes.data(), out.data(), codes.size());
          for (std::size_t i = 0; i < codes.size(); ++i) {
            INFO(codes[i] << " shift " << shift << " divisor " << divisor);
            CHECK(out[i] == static_cast<std::int16_t>(step.requantise(codes[i])));
          }
        }
}

TEST_CASE("accumulators that could pass 32 bits with half a place added are not narrow") {
  Step step;
  step.requantise = {4, 1, Rounding::nearest_even, -8, 7};
  step.high = 2147483647 - 8;
  CHECK(narrow_requantise(step));
  step.high += 1;
  CHECK(!narrow_requantise(step));
}

TEST_CASE("types hold their codes and no more") {
  CHECK(type_text(type_for(-128, 127, 4)) == "s8.4");
  CHECK(type_text(type_for(0, 127, 4)) == "u7.4");
  CHECK(type_text(type_for(0, 0, -2)) == "u1.-2");
  CHECK(type_text(type_for(-1, 0, 0)) == "s1.0");
  CHECK(type_text(type_for(-129, 0, 0)) == "s9.0");
  CHECK(signed_width(-128, 128) == 9);
  CHECK(wide_text(-(static_cast<Wide>(1) << 100)) == "-1267650600228229401496703205376");
}
