// SPDX-License-Identifier: Apache-2.0
// Stochastic offsets in vectors: a pair of lanes computes a Philox block (base/random.hpp), which
// has the numbers of four elements.
#pragma once

#include "formats/rounding.hpp"
#include "simd/simd.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// The keys of all rounds, and the factors.
struct PhiloxKeys {
  static constexpr int rounds = 10;
  static constexpr std::uint32_t factors[2] = {0xD2511F53, 0xCD9E8D57};
  Simd::Bits of[rounds][2];
  Simd::Bits factor[2];

  MASE_SIMD static Simd::Bits all(std::uint32_t word) {
    return Simd::all_bits(static_cast<std::int32_t>(word));
  }
  static std::uint32_t word(std::uint64_t seed, std::uint32_t round, int half) {
    return half == 0 ? static_cast<std::uint32_t>(seed) + round * 0x9E3779B9
                     : static_cast<std::uint32_t>(seed >> 32) + round * 0xBB67AE85;
  }
  MASE_SIMD static PhiloxKeys from(std::uint64_t seed) {
    PhiloxKeys keys;
    for (int half = 0; half < 2; ++half) {
      for (std::uint32_t i = 0; i < rounds; ++i) keys.of[i][half] = all(word(seed, i, half));
      keys.factor[half] = all(factors[half]);
    }
    return keys;
  }
};

/// The results of the first two rounds for the counter's upper words, which all blocks share: a
/// product of each round, and half of the words.
struct SharedRounds {
  Simd::Bits mixed[2];  ///< into words 0 and 2 of the second round
  Simd::Bits last;      ///< its word 3

  MASE_SIMD static SharedRounds of(std::uint64_t seed, std::uint64_t block) {
    const std::uint64_t first = std::uint64_t{PhiloxKeys::factors[1]} * rounding_domain;
    const std::uint32_t word = high(first) ^ high(block) ^ PhiloxKeys::word(seed, 0, 0);
    const std::uint64_t second = std::uint64_t{PhiloxKeys::factors[0]} * word;
    return {{PhiloxKeys::all(static_cast<std::uint32_t>(first) ^ PhiloxKeys::word(seed, 1, 0)),
             PhiloxKeys::all(high(second) ^ PhiloxKeys::word(seed, 1, 1))},
            PhiloxKeys::all(static_cast<std::uint32_t>(second))};
  }
  static std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
};

/// Blocks in the even lanes, where products of 64 bits are computed.
struct PhiloxState {
  static constexpr std::size_t blocks = Simd::width / 2;
  Simd::Bits words[4];

  /// The lanes' block numbers minus the first one. The first block of each four lanes is followed
  /// by that of the next four, and then by the second blocks.
  MASE_SIMD static Simd::Bits counters() {
    std::int32_t counters[Simd::width] = {};
    for (std::size_t lane = 0; lane < Simd::width; lane += 2)
      counters[lane] = static_cast<std::int32_t>(lane % 4 / 2 * (Simd::width / 4) + lane / 4);
    return Simd::load_bits(counters);
  }
  /// The state after the first two rounds of blocks whose low counter words are `low`.
  MASE_SIMD static PhiloxState counting(const PhiloxKeys& keys, const SharedRounds& shared,
                                        Simd::Bits low) {
    const Simd::Bits first = Simd::multiply_even(low, keys.factor[0]);
    const Simd::Bits second = Simd::multiply_even(
        Simd::xor_bits(Simd::odd_to_even(first), keys.of[0][1]), keys.factor[1]);
    return {{Simd::xor_bits(Simd::odd_to_even(second), shared.mixed[0]), second,
             Simd::xor_bits(first, shared.mixed[1]), shared.last}};
  }
  MASE_SIMD void round(const PhiloxKeys& keys, int i) {
    const Simd::Bits first = Simd::multiply_even(words[0], keys.factor[0]);
    const Simd::Bits second = Simd::multiply_even(words[2], keys.factor[1]);
    words[0] = mixed(Simd::odd_to_even(second), words[1], keys.of[i][0]);
    words[1] = second;
    words[2] = mixed(Simd::odd_to_even(first), words[3], keys.of[i][1]);
    words[3] = first;
  }
  MASE_SIMD static Simd::Bits mixed(Simd::Bits product, Simd::Bits word, Simd::Bits key) {
    return Simd::xor_bits(product, Simd::xor_bits(word, key));
  }
  /// The offsets of the blocks' elements.
  MASE_SIMD void store(float* out) const {
    const Simd::Bits front = Simd::interleaved(words[0], words[1]);
    const Simd::Bits back = Simd::interleaved(words[2], words[3]);
    Simd::store(out, offsets(Simd::first_pairs(front, back)));
    Simd::store(out + Simd::width, offsets(Simd::second_pairs(front, back)));
  }
  MASE_SIMD static Simd::Vec offsets(Simd::Bits words) {
    return Simd::mul(Simd::from_integer(Simd::shift_right<8>(words)), Simd::all(0x1p-24F));
  }
};

/// The offsets of so many elements are made at a time, in several states of blocks, each of which
/// waits for its own products.
constexpr std::size_t states_together = 2;
constexpr std::size_t offsets_together = states_together * PhiloxState::blocks * 4;

/// Makes offsets from `block` on, as long as the low words do not wrap around.
MASE_SIMD void make_together(const PhiloxKeys& keys, const SharedRounds& shared,
                             Simd::Bits counters, std::uint64_t block, float* out) {
  PhiloxState states[states_together];
#pragma GCC unroll 2
  for (std::size_t s = 0; s < states_together; ++s) {
    const std::uint64_t first = block + s * PhiloxState::blocks;
    states[s] = PhiloxState::counting(
        keys, shared, Simd::add_bits(counters, PhiloxKeys::all(static_cast<std::uint32_t>(first))));
  }
#pragma GCC unroll 10
  for (int i = 2; i < PhiloxKeys::rounds; ++i)
#pragma GCC unroll 2
    for (std::size_t s = 0; s < states_together; ++s) states[s].round(keys, i);
#pragma GCC unroll 2
  for (std::size_t s = 0; s < states_together; ++s)
    states[s].store(out + s * PhiloxState::blocks * 4);
}

/// True when low words wrap around in the blocks of so many elements; this happens once in 2^34.
inline bool blocks_wrap(std::uint64_t first, std::size_t count) {
  return static_cast<std::uint32_t>(first / 4) > UINT32_MAX - (count / 4 + offsets_together);
}

/// Computes the numbers of OffsetKernel by the definition.
[[gnu::cold]] inline void define_offsets(std::uint64_t seed, std::uint64_t first, float* out,
                                         std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(stochastic_offset(seed, first + i));
}

/// Prefetches nothing.
struct NoFetch {
  MASE_SIMD void operator()(std::size_t) const {}
};

/// The offsets of one seed.
class OffsetMaker {
 public:
  MASE_SIMD explicit OffsetMaker(std::uint64_t seed)
      : seed_(seed), keys_(PhiloxKeys::from(seed)), counters_(PhiloxState::counters()) {}

  /// Like OffsetKernel; `count` is a multiple of offsets_together. fetch(i) prefetches the next
  /// elements, from i on.
  template <class Fetch = NoFetch>
  MASE_SIMD void make(std::uint64_t first, float* out, std::size_t count,
                      const Fetch& fetch = {}) const {
    if (blocks_wrap(first, count)) return define_offsets(seed_, first, out, count);
    const SharedRounds shared = SharedRounds::of(seed_, first / 4);
    for (std::size_t i = 0; i < count; i += offsets_together) {
      fetch(i);
      make_together(keys_, shared, counters_, (first + i) / 4, out + i);
    }
  }

 private:
  std::uint64_t seed_;
  PhiloxKeys keys_;
  Simd::Bits counters_;
};

}  // namespace
}  // namespace mase::formats::kernels
