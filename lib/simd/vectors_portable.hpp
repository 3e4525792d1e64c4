// SPDX-License-Identifier: Apache-2.0
// Vectors of 4 floats for any machine, by the compilers' vector extension. Each vectors_*.hpp gives
// `Simd` the same operations; simd.hpp includes one of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mase::simd {
namespace {

struct Simd {
  using Vec = float __attribute__((vector_size(16)));
  using Bits = std::int32_t __attribute__((vector_size(16)));
  using Unsigned = std::uint32_t __attribute__((vector_size(16)));
  static constexpr std::size_t width = 4;
  /// True for sets that have stream() and, for its alignment, joined(a, b, lanes_from(n)) with n <
  /// width: the lanes of a from n on, then those of b. (All have lanes_from: lane i is first + i.)
  static constexpr bool can_stream = false;

  MASE_SIMD static Vec all(float value) { return Vec{value, value, value, value}; }
  MASE_SIMD static Vec load(const float* from) {
    Vec v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  MASE_SIMD static void store(float* to, Vec v) { std::memcpy(to, &v, sizeof v); }
  MASE_SIMD static Vec add(Vec a, Vec b) { return a + b; }
  MASE_SIMD static Vec sub(Vec a, Vec b) { return a - b; }
  MASE_SIMD static Vec div(Vec a, Vec b) { return a / b; }
  MASE_SIMD static Vec mul(Vec a, Vec b) { return a * b; }
  /// a - b * c, when that is a float32 number.
  MASE_SIMD static Vec minus_product(Vec a, Vec b, Vec c) {
    return narrow(sub_wide(widen(a), mul_wide(widen(b), widen(c))));
  }
  // Returns b when both are equal or not ordered, so NaN and -0 in b stay.
  MASE_SIMD static Vec min(Vec a, Vec b) { return a < b ? a : b; }
  MASE_SIMD static Vec max(Vec a, Vec b) { return a > b ? a : b; }
  /// `then` where a < b, and `otherwise` elsewhere.
  MASE_SIMD static Vec select_less(Vec a, Vec b, Vec then, Vec otherwise) {
    return a < b ? then : otherwise;
  }
  /// `then` where a < b, and 0 elsewhere.
  MASE_SIMD static Vec where_less(Vec a, Vec b, Vec then) { return a < b ? then : Vec{}; }
  /// `then` where the sign bit of v is set, and `otherwise` elsewhere.
  MASE_SIMD static Vec select_signed(Vec v, Vec then, Vec otherwise) {
    return (Bits)v < 0 ? then : otherwise;
  }
  MASE_SIMD static Vec copy_sign(Vec magnitude, Vec sign) {
    return (Vec)(((Bits)magnitude & sign_free()) | ((Bits)sign & ~sign_free()));
  }
  // Adding 2^23 leaves no fraction bits, so the addition rounds; larger values are integers
  // already.
  MASE_SIMD static Vec nearest_even(Vec v) {
    const Vec magnitude = (Vec)((Bits)v & sign_free());
    const Vec rounded = (magnitude + all(0x1p23F)) - all(0x1p23F);
    return magnitude < all(0x1p23F) ? copy_sign(rounded, v) : v;
  }
  MASE_SIMD static Vec floor(Vec v) {
    const Vec nearest = nearest_even(v);
    return nearest > v ? nearest - all(1.0F) : nearest;
  }
  MASE_SIMD static Vec trunc(Vec v) { return copy_sign(floor((Vec)((Bits)v & sign_free())), v); }

  // Bits of a vector as signed 32-bit integers; sums wrap. In AVX2 and AVX-512 `Bits` is opaque.
  MASE_SIMD static Bits bits(Vec v) { return (Bits)v; }
  MASE_SIMD static Vec floats(Bits b) { return (Vec)b; }
  MASE_SIMD static Bits all_bits(std::int32_t value) { return Bits{value, value, value, value}; }
  MASE_SIMD static Bits load_bits(const std::int32_t* from) {
    Bits b;
    std::memcpy(&b, from, sizeof b);
    return b;
  }
  MASE_SIMD static void store_bits(std::int32_t* to, Bits b) { std::memcpy(to, &b, sizeof b); }
  MASE_SIMD static Bits add_bits(Bits a, Bits b) { return (Bits)((Unsigned)a + (Unsigned)b); }
  MASE_SIMD static Bits sub_bits(Bits a, Bits b) { return (Bits)((Unsigned)a - (Unsigned)b); }
  MASE_SIMD static Bits and_bits(Bits a, Bits b) { return a & b; }
  MASE_SIMD static Bits or_bits(Bits a, Bits b) { return a | b; }
  MASE_SIMD static Bits xor_bits(Bits a, Bits b) { return a ^ b; }
  template <int count>
  MASE_SIMD static Bits shift_left(Bits a) {
    return (Bits)((Unsigned)a << count);
  }
  template <int count>
  MASE_SIMD static Bits shift_right(Bits a) {  ///< shifts in zeros
    return (Bits)((Unsigned)a >> count);
  }
  MASE_SIMD static Bits shift_right_by(Bits a, int count) {  ///< shifts in zeros
    return (Bits)((Unsigned)a >> count);
  }
  /// Shifts each lane by its count and shifts in zeros; counts of 32 and more give 0.
  MASE_SIMD static Bits shift_left_each(Bits a, Bits counts) {
    return counts < 32 ? (Bits)((Unsigned)a << (Unsigned)(counts & 31)) : Bits{};
  }
  MASE_SIMD static Bits shift_right_each(Bits a, Bits counts) {
    return counts < 32 ? (Bits)((Unsigned)a >> (Unsigned)(counts & 31)) : Bits{};
  }
  MASE_SIMD static Bits min_bits(Bits a, Bits b) { return a < b ? a : b; }
  MASE_SIMD static Bits max_bits(Bits a, Bits b) { return a > b ? a : b; }
  /// `then` where a < b, and `otherwise` elsewhere.
  MASE_SIMD static Bits select_less_bits(Bits a, Bits b, Bits then, Bits otherwise) {
    return a < b ? then : otherwise;
  }
  MASE_SIMD static Bits nearest_integer(Vec v) {  ///< ties to even; undefined unless |v| < 2^22
    return sub_bits((Bits)(v + all(0x1.8p23F)), all_bits(0x4b400000));
  }
  MASE_SIMD static Vec from_integer(Bits b) { return __builtin_convertvector(b, Vec); }
  MASE_SIMD static std::int32_t largest(Bits b) {  ///< the largest lane
    const std::int32_t low = b[0] > b[1] ? b[0] : b[1], high = b[2] > b[3] ? b[2] : b[3];
    return low > high ? low : high;
  }
  MASE_SIMD static bool all_negative(Bits b) { return (b[0] & b[1] & b[2] & b[3]) < 0; }
  /// Lane i is the largest lane of rows[i].
  MASE_SIMD static Bits largest_of_each(const Bits (&rows)[width]) {
    return Bits{largest(rows[0]), largest(rows[1]), largest(rows[2]), largest(rows[3])};
  }
  /// Lanes 2 i and 2 i + 1 are the largest lanes of the halves of rows[i].
  MASE_SIMD static Bits largest_of_halves(const Bits (&rows)[width / 2]) {
    const Bits a = rows[0], b = rows[1];
    return max_bits(Bits{a[0], a[2], b[0], b[2]}, Bits{a[1], a[3], b[1], b[3]});
  }

  MASE_SIMD static Bits lanes_from(std::size_t first) {
    const auto n = static_cast<std::int32_t>(first);
    return Bits{n, n + 1, n + 2, n + 3};
  }
  /// Lane i is lane lanes[i] of v.
  MASE_SIMD static Vec picked(Vec v, Bits lanes) {
    return Vec{v[lanes[0]], v[lanes[1]], v[lanes[2]], v[lanes[3]]};
  }

  /// Lane i is table[index i].
  MASE_SIMD static Vec gathered(const float* table, Bits index) {
    return Vec{table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
  }
  /// Lane i is table[index[i]].
  MASE_SIMD static Bits gathered(const std::int32_t* table, Bits index) {
    return Bits{table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
  }

  /// The first (or second) two of each four lanes: those of a, then those of b.
  MASE_SIMD static Bits first_pairs(Bits a, Bits b) { return Bits{a[0], a[1], b[0], b[1]}; }
  MASE_SIMD static Bits second_pairs(Bits a, Bits b) { return Bits{a[2], a[3], b[2], b[3]}; }

  /// Unsigned 64-bit products of the even lanes: the low halves in the even lanes, the high halves
  /// in the odd lanes.
  MASE_SIMD static Bits multiply_even(Bits a, Bits b) {
    Bits product;
    for (std::size_t i = 0; i < width; i += 2) {
      const std::uint64_t whole =
          std::uint64_t{static_cast<std::uint32_t>(a[i])} * static_cast<std::uint32_t>(b[i]);
      product[i] = static_cast<std::int32_t>(whole);
      product[i + 1] = static_cast<std::int32_t>(whole >> 32);
    }
    return product;
  }
  /// Each odd lane in the even lane before it; the contents of odd lanes are unspecified.
  MASE_SIMD static Bits odd_to_even(Bits a) { return Bits{a[1], 0, a[3], 0}; }
  /// The even lanes of both; those of `odd` go to the odd lanes.
  MASE_SIMD static Bits interleaved(Bits even, Bits odd) {
    return Bits{even[0], odd[0], even[2], odd[2]};
  }

  // The lanes of a vector as doubles.
  using Pair = double __attribute__((vector_size(16)));
  struct Wide {
    Pair low, high;
  };
  MASE_SIMD static Wide wide_all(double value) { return {Pair{value, value}, Pair{value, value}}; }
  MASE_SIMD static Wide widen(Vec v) { return {Pair{v[0], v[1]}, Pair{v[2], v[3]}}; }
  MASE_SIMD static Vec narrow(Wide v) {  ///< rounds
    return Vec{static_cast<float>(v.low[0]), static_cast<float>(v.low[1]),
               static_cast<float>(v.high[0]), static_cast<float>(v.high[1])};
  }
  MASE_SIMD static void store_wide(double* to, Wide v) { std::memcpy(to, &v, sizeof v); }
  MASE_SIMD static Wide add_wide(Wide a, Wide b) { return {a.low + b.low, a.high + b.high}; }
  MASE_SIMD static Wide sub_wide(Wide a, Wide b) { return {a.low - b.low, a.high - b.high}; }
  MASE_SIMD static Wide mul_wide(Wide a, Wide b) { return {a.low * b.low, a.high * b.high}; }
  MASE_SIMD static Wide div_wide(Wide a, Wide b) { return {a.low / b.low, a.high / b.high}; }
  MASE_SIMD static Wide select_less_wide(Wide a, Wide b, Wide then, Wide otherwise) {
    return {a.low < b.low ? then.low : otherwise.low, a.high < b.high ? then.high : otherwise.high};
  }

 private:
  MASE_SIMD static Bits sign_free() {
    constexpr std::int32_t mask = 0x7fffffff;
    return Bits{mask, mask, mask, mask};
  }
};

}  // namespace
}  // namespace mase::simd
