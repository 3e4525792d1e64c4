// SPDX-License-Identifier: Apache-2.0
// The parts of a thread, and sums over them.
#include "torch/run/batch_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace mase::libtorch {
namespace {

thread_local BatchParts* parts_in_use = nullptr;

std::vector<double> gather_counted(BatchParts& parts, std::vector<double> own) {
  if (!parts.counts()) std::ranges::fill(own, 0.0);
  return parts.gather(own);
}

}  // namespace

UseBatchParts::UseBatchParts(BatchParts* parts) : before_(std::exchange(parts_in_use, parts)) {}
UseBatchParts::~UseBatchParts() { parts_in_use = before_; }

BatchParts* batch_parts_in_use() { return parts_in_use; }

std::optional<std::size_t> row_dimension(std::span<const std::int64_t> sizes, std::int64_t rows) {
  const auto found = std::ranges::find(sizes, rows);
  if (found != sizes.end()) return static_cast<std::size_t>(found - sizes.begin());
  if (!sizes.empty() && sizes.front() % rows == 0) return 0;
  return {};
}

void take_all_parts(BatchMoments& moments) {
  BatchParts* const parts = batch_parts_in_use();
  if (!parts) return;
  // A part says its number of values, and for each channel its sum, its squares and their centre.
  const std::size_t channels = moments.sums.size(), numbers = 1 + 3 * channels;
  std::vector<double> own{moments.count};
  for (const auto* values : {&moments.sums, &moments.squares, &moments.means})
    own.insert(own.end(), values->begin(), values->end());
  const std::vector<double> all = gather_counted(*parts, std::move(own));
  moments.count = 0;
  for (std::size_t part = 0; part < all.size(); part += numbers) moments.count += all[part];
  for (std::size_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (std::size_t part = 0; part < all.size(); part += numbers) sum += all[part + 1 + c];
    const double mean = sum / moments.count;
    for (std::size_t part = 0; part < all.size(); part += numbers) {
      const double* const of = all.data() + part + 1 + c;
      const double count = all[part], apart = of[2 * channels] - mean;
      squares += of[channels] + apart * (2 * (of[0] - count * of[2 * channels]) + count * apart);
    }
    moments.sums[c] = sum;
    moments.means[c] = mean;
    moments.squares[c] = squares;
  }
}

std::vector<double> sum_over(BatchParts& parts, std::vector<double> own) {
  const std::size_t count = own.size();
  const std::vector<double> all = gather_counted(parts, std::move(own));
  std::vector<double> sums(count, 0.0);
  for (std::size_t i = 0; i < all.size(); ++i) sums[i % count] += all[i];
  return sums;
}

}  // namespace mase::libtorch
