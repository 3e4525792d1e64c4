// SPDX-License-Identifier: Apache-2.0
// Keeps the batches, or gathers them again in every pass.
#include "search/runners/row_batches.hpp"

#include <algorithm>

namespace mase::search {
namespace {

constexpr std::int64_t batch_rows = 512;

/// The bytes of a row as batches have it.
std::size_t bytes_per_row(const data::Dataset& dataset) {
  std::size_t bytes = 0;
  for (const data::InputColumn& input : dataset.inputs)
    if (input.batch == 0)
      bytes += static_cast<std::size_t>(numel(input.shape(1))) * size_of(input.dtype());
  for (const data::Target& target : dataset.targets)
    bytes += static_cast<std::size_t>(numel(target.shape(1))) * size_of(target.values.dtype());
  return std::max<std::size_t>(1, bytes);
}

}  // namespace

RowBatches::RowBatches(const data::Dataset& dataset, const std::vector<std::int64_t>& rows,
                       std::int64_t count, std::size_t most)
    : dataset_(dataset), rows_(rows.begin(), rows.begin() + count) {
  if (rows_.size() <= most / bytes_per_row(dataset))
    gather_each([&](data::Batch batch) { kept_.push_back(std::move(batch)); });
}

void RowBatches::for_each(const std::function<void(const data::Batch&)>& use) const {
  if (!are_kept()) return gather_each(use);
  for (const data::Batch& batch : kept_) use(batch);
}

void RowBatches::gather_each(const std::function<void(data::Batch)>& use) const {
  const auto count = static_cast<std::int64_t>(rows_.size());
  for (std::int64_t first = 0; first < count; first += batch_rows)
    use(dataset_.narrow_batch(rows_, first, std::min(batch_rows, count - first)));
}

}  // namespace mase::search
