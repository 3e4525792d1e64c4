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

struct PhiloxState {
  Simd::Bits words[4];

  MASE_SIMD static PhiloxState counting_from(std::uint64_t block) {
    std::int32_t low[Simd::width], high[Simd::width];
    for (std::size_t lane = 0; lane < Simd::width; ++lane) {
      const std::uint64_t number = block + block_of_lane(lane);
      low[lane] = static_cast<std::int32_t>(number);
      high[lane] = static_cast<std::int32_t>(number >> 32);
    }
    return {{Simd::load_bits(low), Simd::load_bits(high),
             Simd::all_bits(static_cast<std::int32_t>(rounding_domain)), Simd::all_bits(0)}};
  }

  MASE_SIMD void round(std::uint32_t key0, std::uint32_t key1) {
    const auto [high0, low0] = Simd::multiply(words[0], 0xD2511F53);
    const auto [high1, low1] = Simd::multiply(words[2], 0xCD9E8D57);
    words[0] = mixed(high1, words[1], key0);
    words[1] = low1;
    words[2] = mixed(high0, words[3], key1);
    words[3] = low0;
  }

  MASE_SIMD static Simd::Bits mixed(Simd::Bits product, Simd::Bits word, std::uint32_t key) {
    return Simd::xor_bits(Simd::xor_bits(product, word),
                          Simd::all_bits(static_cast<std::int32_t>(key)));
  }
};

/// The offsets of `batch` elements from block `block` on.
MASE_SIMD void make_batch(std::uint64_t seed, std::uint64_t block, float* out) {
  PhiloxState state = PhiloxState::counting_from(block);
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
#pragma GCC unroll 10
  for (int i = 0; i < 10; ++i) {
    state.round(key0, key1);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  Simd::Vec offsets[4];
  for (std::size_t k = 0; k < 4; ++k) {
    const Simd::Vec top = Simd::from_integer(Simd::shift_right<8>(state.words[k]));
    offsets[k] = Simd::mul(top, Simd::all(0x1p-24F));
  }
  Simd::transpose(offsets);
  for (std::size_t k = 0; k < 4; ++k) Simd::store(out + k * Simd::width, offsets[k]);
}

MASE_SIMD_TARGET void make_offsets(std::uint64_t seed, std::uint64_t first, float* out,
                                   std::size_t count) {
  std::size_t i = 0;
  for (; i + batch <= count; i += batch) make_batch(seed, (first + i) / 4, out + i);
  if (i < count) {
    float rest[batch];
    make_batch(seed, (first + i) / 4, rest);
    std::copy_n(rest, count - i, out + i);
  }
}

}  // namespace

const OffsetKernel MASE_KERNELS_OF(offset_kernel) = make_offsets;

}  // namespace mase::formats::kernels
