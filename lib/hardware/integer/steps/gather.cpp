// SPDX-License-Identifier: Apache-2.0
// What moves together.
#include "hardware/integer/steps/gather.hpp"

#include <numeric>

#include "hardware/integer/program/codes.hpp"

namespace mase::integer {
namespace {

/// Whether every `count` elements from a multiple of it on come from `count` such elements.
bool move_together(const std::vector<std::int64_t>& places, std::int64_t count) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto offset = static_cast<std::int64_t>(i) % count;
    const std::int64_t first = places[i - at(offset)];
    if (first >= 0 && first % count != 0) return false;
    if (places[i] != (first < 0 ? first : first + offset)) return false;
  }
  return true;
}

/// Whether the places fall into `parts` equal ones, each of its own part of the frame and alike.
bool repeats(const std::vector<std::int64_t>& places, std::int64_t elements, std::int64_t parts) {
  const std::size_t count = places.size() / at(parts);
  const std::int64_t period = elements / parts;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t first = places[i % count];
    const auto part = static_cast<std::int64_t>(i / count);
    if (first >= period || places[i] != (first < 0 ? first : first + part * period)) return false;
  }
  return true;
}

}  // namespace

Gather gather_of(std::vector<std::int64_t> places, std::int64_t elements, std::int64_t outside) {
  std::int64_t parts = std::gcd(elements, static_cast<std::int64_t>(places.size()));
  while (std::gcd(elements, static_cast<std::int64_t>(places.size())) % parts != 0 ||
         !repeats(places, elements, parts))
    --parts;
  places.resize(places.size() / at(parts));
  return {std::move(places), elements / parts, outside};
}

std::int64_t Gather::block() const {
  const auto common = std::gcd(period, static_cast<std::int64_t>(places.size()));
  for (std::int64_t parts = 1; parts < common; ++parts)
    if (common % parts == 0 && move_together(places, common / parts)) return common / parts;
  return 1;
}

}  // namespace mase::integer
