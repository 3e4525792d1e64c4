// SPDX-License-Identifier: Apache-2.0
// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011) and the distributions drawn from it.
#include "base/random.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace mase {
namespace {

/// One round: two 32x32-bit products, their high words mixed with the counter and the key.
std::array<std::uint32_t, 4> philox_round(const std::array<std::uint32_t, 4>& c,
                                          const std::array<std::uint32_t, 2>& key) {
  const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0];
  const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c[2];
  const auto high = [](std::uint64_t p) { return static_cast<std::uint32_t>(p >> 32); };
  const auto low = [](std::uint64_t p) { return static_cast<std::uint32_t>(p); };
  return {high(p1) ^ c[1] ^ key[0], low(p1), high(p0) ^ c[3] ^ key[1], low(p0)};
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    counter = philox_round(counter, key);
    key[0] += 0x9E3779B9;  // the golden ratio
    key[1] += 0xBB67AE85;  // the square root of 3, minus 1
  }
  return counter;
}

std::uint32_t Random::next_u32() {
  if (used_ == 4) {
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
    block_ = philox({low(counter_), high(counter_), low(stream_), high(stream_)},
                    {low(seed_), high(seed_)});
    ++counter_;
    used_ = 0;
  }
  return block_[static_cast<std::size_t>(used_++)];
}

double Random::uniform() {
  const std::uint64_t high = next_u32() >> 5, low = next_u32() >> 6;  // 27 and 26 bits
  return static_cast<double>((high << 26) | low) * 0x1p-53;
}

double Random::uniform(double low, double high) {
  const double value = low + (high - low) * uniform();
  return value < high ? value : std::nextafter(high, low);  // the sum may round up to `high`
}

double Random::normal() {
  const double u = 1.0 - uniform();  // in (0, 1], so its logarithm is finite
  const double angle = 2.0 * std::numbers::pi * uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(angle);
}

std::uint64_t Random::below(std::uint64_t bound) {
  MASE_CHECK(bound > 0, "a random number below 0 was asked for");
  const std::uint64_t skipped = (0 - bound) % bound;  // 2^64 mod bound: the rest divides evenly
  std::uint64_t value = 0;
  do {
    const std::uint64_t high = next_u32();
    value = (high << 32) | next_u32();
  } while (value < skipped);
  return value % bound;
}

std::vector<std::int64_t> Random::permutation(std::int64_t count) {
  MASE_CHECK(count >= 0, "a permutation of negative length was asked for");
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  return order;
}

}  // namespace mase
