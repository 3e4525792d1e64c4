// SPDX-License-Identifier: Apache-2.0
// Orders rows by their lengths, and copies the part of them that is not padding.
#include "data/group_by_length.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.hpp"

namespace mase::data {
namespace {

constexpr std::int64_t sorted_batches = 50;  ///< rows are sorted among those of so many batches

/// The lengths of the rows of a data set of texts; nullptr if it has none.
const std::vector<std::int32_t>* lengths_of(const Dataset& dataset) {
  for (const InputColumn& input : dataset.inputs)
    if (input.tokens && !input.tokens->lengths.empty()) return &input.tokens->lengths;
  return nullptr;
}

}  // namespace

std::optional<std::int64_t> Dataset::width_of(std::span<const std::int64_t> rows) const {
  const auto* const lengths = by_length ? lengths_of(*this) : nullptr;
  if (!lengths || rows.empty()) return std::nullopt;
  std::int32_t longest = 1;
  for (const std::int64_t row : rows)
    longest = std::max(longest, (*lengths)[static_cast<std::size_t>(row)]);
  return longest;
}

void InputColumn::gather_narrow(std::span<const std::int64_t> rows, std::int64_t width,
                                std::byte* into) const {
  const auto all = static_cast<std::size_t>(values.shape().back());
  const auto some = static_cast<std::size_t>(width), item = size_of(values.dtype());
  const std::size_t first = tokens->pads_left ? all - some : 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::memcpy(into + i * some * item,
                values.bytes() + (static_cast<std::size_t>(rows[i]) * all + first) * item,
                some * item);
}

std::vector<std::int64_t> rows_by_length(const Dataset& dataset, std::vector<std::int64_t> shuffled,
                                         std::int64_t batch_size, Random& random) {
  const std::vector<std::int32_t>& lengths = *lengths_of(dataset);
  const auto length = [&](std::int64_t row) { return lengths[static_cast<std::size_t>(row)]; };
  const auto count = static_cast<std::int64_t>(shuffled.size());
  const auto row_at = [&](std::int64_t place) { return shuffled.begin() + std::min(place, count); };
  for (std::int64_t first = 0; first < count; first += sorted_batches * batch_size)
    std::stable_sort(row_at(first), row_at(first + sorted_batches * batch_size),
                     [&](std::int64_t a, std::int64_t b) { return length(a) > length(b); });
  std::vector<std::int64_t> ordered;
  for (const std::int64_t batch : random.permutation(count / batch_size))
    ordered.insert(ordered.end(), row_at(batch * batch_size), row_at((batch + 1) * batch_size));
  ordered.insert(ordered.end(), row_at(count / batch_size * batch_size), shuffled.end());
  return ordered;
}

void group_by_length(Dataset& dataset, std::int64_t batch_size, std::uint64_t seed) {
  if (!lengths_of(dataset))
    config_error("group_by_length: the rows of data set " + dataset.name +
                 " have one length; it is for texts of a .csv or .jsonl file with a tokenizer " +
                 "(--dataset text --tokenizer FILE)");
  dataset.by_length = true;
  std::uint64_t stream = 0;
  for (auto* part : {&dataset.validation, &dataset.test}) {
    Random random(seed, stream++);
    std::vector<std::int64_t> shuffled;
    for (const std::int64_t place : random.permutation(static_cast<std::int64_t>(part->size())))
      shuffled.push_back((*part)[static_cast<std::size_t>(place)]);
    *part = rows_by_length(dataset, std::move(shuffled), batch_size, random);
  }
}

}  // namespace mase::data
