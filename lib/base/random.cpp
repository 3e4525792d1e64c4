// SPDX-License-Identifier: Apache-2.0
// The distributions drawn from Philox.
#include "base/random.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/philox.hpp"

namespace mase {
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  return philox_block(counter, key);
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
