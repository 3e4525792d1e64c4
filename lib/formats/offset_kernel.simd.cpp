// SPDX-License-Identifier: Apache-2.0
// Stochastic offsets: a lane computes a Philox block (base/random.hpp), which has the numbers of
// four elements.
#include <algorithm>
#include <cstring>

#include "formats/offset_kernel.hpp"
#include "formats/rounding.hpp"
#include "simd/simd.hpp"

namespace mase::formats::kernels {
namespace {

using namespace simd;

constexpr std::size_t batch = 4 * Simd::width;  ///< elements of a vector of blocks

/// Which block a lane computes: after transposing, the groups of vector m are consecutive blocks.
constexpr std::size_t block_of_lane(std::size_t lane) {
  return lane % 4 * (Simd::width / 4) + lane / 4;
}

/// The key of each round, and the factors.
struct PhiloxKeys {
  static constexpr int rounds = 10;
  Simd::Bits of[rounds][2];
  Simd::Bits factor[2];

  MASE_SIMD static Simd::Bits all(std::uint32_t word) {
    return Simd::all_bits(static_cast<std::int32_t>(word));
  }
  MASE_SIMD static PhiloxKeys from(std::uint64_t seed) {
    PhiloxKeys keys;
    auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int i = 0; i < rounds; ++i, key0 += 0x9E3779B9, key1 += 0xBB67AE85) {
      keys.of[i][0] = all(key0);
      keys.of[i][1] = all(key1);
    }
    keys.factor[0] = all(0xD2511F53);
    keys.factor[1] = all(0xCD9E8D57);
    return keys;
  }
};

/// Blocks in the even lanes only, where products of 64 bits are at home.
struct PhiloxState {
  Simd::Bits words[4];

  MASE_SIMD static PhiloxState counting(Simd::Bits low, Simd::Bits high) {
    return {
        {low, high, Simd::all_bits(static_cast<std::int32_t>(rounding_domain)), Simd::all_bits(0)}};
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
    return Simd::xor_bits(Simd::xor_bits(product, word), key);
  }
};

/// The counters of a batch, less that of its first block: for the lanes of a vector, and for the
/// two states that share them.
struct BlockCounters {
  Simd::Bits even, odd;

  MASE_SIMD static BlockCounters make() {
    std::int32_t even[Simd::width] = {}, odd[Simd::width] = {};
    for (std::size_t lane = 0; lane < Simd::width; lane += 2) {
      even[lane] = static_cast<std::int32_t>(block_of_lane(lane));
      odd[lane] = static_cast<std::int32_t>(block_of_lane(lane + 1));
    }
    return {Simd::load_bits(even), Simd::load_bits(odd)};
  }

  /// From block `first` on, as long as the low words do not wrap around.
  MASE_SIMD static PhiloxState state(Simd::Bits less, std::uint64_t first) {
    return PhiloxState::counting(
        Simd::add_bits(less, Simd::all_bits(static_cast<std::int32_t>(first))),
        Simd::all_bits(static_cast<std::int32_t>(first >> 32)));
  }
};

/// The offsets of `batch` elements from the words of their blocks.
MASE_SIMD void store_offsets(const PhiloxState& even, const PhiloxState& odd, float* out) {
  Simd::Vec offsets[4];
  for (std::size_t k = 0; k < 4; ++k) {
    const Simd::Bits words = Simd::interleaved(even.words[k], odd.words[k]);
    offsets[k] = Simd::mul(Simd::from_integer(Simd::shift_right<8>(words)), Simd::all(0x1p-24F));
  }
  Simd::transpose(offsets);
  for (std::size_t k = 0; k < 4; ++k) Simd::store(out + k * Simd::width, offsets[k]);
}

/// The offsets of `count` batches from block `block` on. Several at a time: each waits for its own
/// products.
template <std::size_t count>
MASE_SIMD void make_batches(const PhiloxKeys& keys, const BlockCounters& counters,
                            std::uint64_t block, float* out) {
  PhiloxState even[count], odd[count];
  for (std::size_t b = 0; b < count; ++b) {
    even[b] = BlockCounters::state(counters.even, block + b * (batch / 4));
    odd[b] = BlockCounters::state(counters.odd, block + b * (batch / 4));
  }
#pragma GCC unroll 10
  for (int i = 0; i < PhiloxKeys::rounds; ++i)
#pragma GCC unroll 2
    for (std::size_t b = 0; b < count; ++b) {
      even[b].round(keys, i);
      odd[b].round(keys, i);
    }
  for (std::size_t b = 0; b < count; ++b) store_offsets(even[b], odd[b], out + b * batch);
}

/// Whether the low words of so many blocks do not wrap around, as they do once in 2^34 elements.
bool stay_below(std::uint64_t block, std::size_t blocks) {
  return static_cast<std::uint32_t>(block) <= UINT32_MAX - blocks;
}

void make_wrapping_batch(std::uint64_t seed, std::uint64_t block, float* out) {
  for (std::size_t i = 0; i < batch; ++i)
    out[i] = static_cast<float>(stochastic_offset(seed, block * 4 + i));
}

MASE_SIMD_TARGET void make_offsets(std::uint64_t seed, std::uint64_t first, float* out,
                                   std::size_t count) {
  constexpr std::size_t together = 2;
  const PhiloxKeys keys = PhiloxKeys::from(seed);
  const BlockCounters counters = BlockCounters::make();
  float rest[batch];
  for (std::size_t i = 0, done = 0; i < count; i += done) {
    const std::uint64_t block = (first + i) / 4;
    const bool whole = i + batch <= count;
    float* const to = whole ? out + i : rest;
    done = batch;
    if (i + together * batch <= count && stay_below(block, together * batch / 4)) {
      make_batches<together>(keys, counters, block, to);
      done = together * batch;
    } else if (stay_below(block, batch / 4)) {
      make_batches<1>(keys, counters, block, to);
    } else {
      make_wrapping_batch(seed, block, to);
    }
    if (!whole) std::copy_n(rest, count - i, out + i);
  }
}

}  // namespace

const OffsetKernel MASE_KERNELS_OF(offset_kernel) = make_offsets;

}  // namespace mase::formats::kernels
