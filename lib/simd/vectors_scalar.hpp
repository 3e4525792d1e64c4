// SPDX-License-Identifier: Apache-2.0
// Vectors of one float, for threads of a GPU, each of which computes an element. The same text
// compiles for processors, where tests compare its results. There are no operations that move
// numbers between lanes.
//
// Fused products would round once instead of twice, so compilers must not make them
// (-ffp-contract=off, --fmad=false).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace mase::simd {
namespace {

struct Simd {
  using Vec = float;
  using Bits = std::int32_t;
  static constexpr std::size_t width = 1;
  static constexpr bool can_stream = false;

  MASE_SIMD static Vec all(float value) { return value; }
  MASE_SIMD static Vec load(const float* from) { return *from; }
  MASE_SIMD static void store(float* to, Vec v) { *to = v; }
  MASE_SIMD static Vec add(Vec a, Vec b) { return a + b; }
  MASE_SIMD static Vec sub(Vec a, Vec b) { return a - b; }
  MASE_SIMD static Vec div(Vec a, Vec b) { return a / b; }
  MASE_SIMD static Vec mul(Vec a, Vec b) { return a * b; }
  MASE_SIMD static Vec minus_product(Vec a, Vec b, Vec c) { return ::fmaf(-b, c, a); }
  MASE_SIMD static Vec min(Vec a, Vec b) { return a < b ? a : b; }
  MASE_SIMD static Vec max(Vec a, Vec b) { return a > b ? a : b; }
  MASE_SIMD static Vec select_less(Vec a, Vec b, Vec then, Vec otherwise) {
    return a < b ? then : otherwise;
  }
  MASE_SIMD static Vec where_less(Vec a, Vec b, Vec then) { return a < b ? then : 0.0F; }
  MASE_SIMD static Vec select_signed(Vec v, Vec then, Vec otherwise) {
    return bits(v) < 0 ? then : otherwise;
  }
  MASE_SIMD static Vec copy_sign(Vec magnitude, Vec sign) {
    return floats((bits(magnitude) & 0x7fffffff) | (bits(sign) & ~0x7fffffff));
  }
  MASE_SIMD static Vec nearest_even(Vec v) { return ::rintf(v); }
  MASE_SIMD static Vec floor(Vec v) { return ::floorf(v); }
  MASE_SIMD static Vec trunc(Vec v) { return ::truncf(v); }

  MASE_SIMD static Bits bits(Vec v) { return __builtin_bit_cast(Bits, v); }
  MASE_SIMD static Vec floats(Bits b) { return __builtin_bit_cast(Vec, b); }
  MASE_SIMD static Bits all_bits(std::int32_t value) { return value; }
  MASE_SIMD static Bits load_bits(const std::int32_t* from) { return *from; }
  MASE_SIMD static void store_bits(std::int32_t* to, Bits b) { *to = b; }
  MASE_SIMD static Bits add_bits(Bits a, Bits b) { return wrapped(word(a) + word(b)); }
  MASE_SIMD static Bits sub_bits(Bits a, Bits b) { return wrapped(word(a) - word(b)); }
  MASE_SIMD static Bits and_bits(Bits a, Bits b) { return a & b; }
  MASE_SIMD static Bits or_bits(Bits a, Bits b) { return a | b; }
  MASE_SIMD static Bits xor_bits(Bits a, Bits b) { return a ^ b; }
  template <int count>
  MASE_SIMD static Bits shift_left(Bits a) {
    return wrapped(word(a) << count);
  }
  template <int count>
  MASE_SIMD static Bits shift_right(Bits a) {
    return wrapped(word(a) >> count);
  }
  MASE_SIMD static Bits shift_right_by(Bits a, int count) { return wrapped(word(a) >> count); }
  MASE_SIMD static Bits shift_left_each(Bits a, Bits count) {
    return count < 32 ? wrapped(word(a) << (count & 31)) : 0;
  }
  MASE_SIMD static Bits shift_right_each(Bits a, Bits count) {
    return count < 32 ? wrapped(word(a) >> (count & 31)) : 0;
  }
  MASE_SIMD static Bits min_bits(Bits a, Bits b) { return a < b ? a : b; }
  MASE_SIMD static Bits max_bits(Bits a, Bits b) { return a > b ? a : b; }
  MASE_SIMD static Bits select_less_bits(Bits a, Bits b, Bits then, Bits otherwise) {
    return a < b ? then : otherwise;
  }
  MASE_SIMD static Bits nearest_integer(Vec v) { return sub_bits(bits(v + 0x1.8p23F), 0x4b400000); }
  MASE_SIMD static Vec from_integer(Bits b) { return static_cast<Vec>(b); }
  MASE_SIMD static std::int32_t largest(Bits b) { return b; }
  MASE_SIMD static bool all_negative(Bits b) { return b < 0; }
  MASE_SIMD static Vec gathered(const float* table, Bits index) { return table[index]; }
  MASE_SIMD static Bits gathered(const std::int32_t* table, Bits index) { return table[index]; }

  using Wide = double;
  MASE_SIMD static Wide wide_all(double value) { return value; }
  MASE_SIMD static Wide widen(Vec v) { return v; }
  MASE_SIMD static Vec narrow(Wide v) { return static_cast<Vec>(v); }
  MASE_SIMD static Wide add_wide(Wide a, Wide b) { return a + b; }
  MASE_SIMD static Wide sub_wide(Wide a, Wide b) { return a - b; }
  MASE_SIMD static Wide mul_wide(Wide a, Wide b) { return a * b; }
  MASE_SIMD static Wide div_wide(Wide a, Wide b) { return a / b; }
  MASE_SIMD static Wide select_less_wide(Wide a, Wide b, Wide then, Wide otherwise) {
    return a < b ? then : otherwise;
  }

 private:
  MASE_SIMD static std::uint32_t word(Bits b) { return static_cast<std::uint32_t>(b); }
  MASE_SIMD static Bits wrapped(std::uint32_t word) { return static_cast<Bits>(word); }
};

}  // namespace
}  // namespace mase::simd
