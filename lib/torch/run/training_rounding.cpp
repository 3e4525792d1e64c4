// SPDX-License-Identifier: Apache-2.0
// Makes the keys of random numbers with Philox blocks.
#include "torch/run/training_rounding.hpp"

#include <array>

#include "base/file.hpp"
#include "base/random.hpp"
#include "torch/run/batch_parts.hpp"

namespace mase::libtorch {
namespace {

std::uint32_t low(std::uint64_t number) { return static_cast<std::uint32_t>(number); }
std::uint32_t high(std::uint64_t number) { return static_cast<std::uint32_t>(number >> 32); }

std::uint64_t joined(const std::array<std::uint32_t, 4>& words) {
  return words[0] | static_cast<std::uint64_t>(words[1]) << 32;
}

/// Whether all parts of a batch share their random numbers, and those of this one.
struct Share {
  bool whole = false;
  std::int64_t first = 0, count = 0;
};

/// Values without rows are the same in all parts.
Share share_of(const RoundedSizes& sizes) {
  const BatchParts* const parts = batch_parts_in_use();
  if (!parts || !sizes) return {};
  const PartRows rows = parts->rows();
  const std::optional<std::size_t> dimension = row_dimension(*sizes, rows.own);
  if (!dimension) return {true};
  if (*dimension > 0) return {};
  std::int64_t count = 1;
  for (const std::int64_t size : *sizes) count *= size;
  return {true, rows.first * (count / rows.own), count};
}

std::uint64_t key_of(const TrainingRounding& rounding, std::uint64_t place, Rounded what,
                     std::int64_t item, bool whole) {
  const std::uint64_t own = joined(philox(
      {low(place), high(place), static_cast<std::uint32_t>(what), static_cast<std::uint32_t>(item)},
      {low(rounding.seed), high(rounding.seed)}));
  const auto step = static_cast<std::uint64_t>(rounding.step);
  const bool each_batch = what == Rounded::data || what == Rounded::gradient;
  const std::int64_t number =
      whole ? rounding.batch : rounding.batch * rounding.parts + rounding.part;
  const auto batch = static_cast<std::uint64_t>(each_batch ? number : 0);
  return joined(philox({low(step), high(step), low(batch), high(batch)}, {low(own), high(own)}));
}

}  // namespace

std::uint64_t place_number(const std::string& node, const std::string& port) {
  return std::stoull(sha256(node + "." + port).substr(0, 16), nullptr, 16);
}

formats::Format TrainingRounding::at(const formats::Format& format, std::uint64_t place,
                                     Rounded what, const RoundedSizes& sizes,
                                     std::int64_t item) const {
  if (!format.is_stochastic()) return format;
  const Share share = share_of(sizes);
  return format.reseeded(key_of(*this, place, what, item, share.whole))
      .of_rows(share.first, share.count);
}

}  // namespace mase::libtorch
