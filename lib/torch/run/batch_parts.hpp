// SPDX-License-Identifier: Apache-2.0
// Batches whose rows are divided into parts, and the statistics that the parts have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mase::libtorch {

/// The rows of a part, and those of the whole batch.
struct PartRows {
  std::int64_t first = 0, own = 0, all = 0;
};

/// The parts of a training batch that are computed at the same time. Every thread that has a part
/// calls the same functions in the same order.
class BatchParts {
 public:
  virtual ~BatchParts() = default;
  /// Whether the rows of this thread count. A part without rows is computed with one that does not.
  virtual bool counts() const = 0;
  virtual PartRows rows() const = 0;
  /// The numbers of all parts in their order, as many of each as `own` has.
  virtual std::vector<double> gather(std::span<const double> own) = 0;
};

/// While this object lives, layers of this thread that look at the whole batch in training ask
/// `parts` for the rest of it; there is no rest if it is null.
class UseBatchParts {
 public:
  explicit UseBatchParts(BatchParts* parts);
  ~UseBatchParts();
  UseBatchParts(const UseBatchParts&) = delete;
  UseBatchParts& operator=(const UseBatchParts&) = delete;

 private:
  BatchParts* before_;
};

BatchParts* batch_parts_in_use();  ///< those of this thread; null if the batch is whole

/// The dimension of the rows of a part in a value of these sizes: the first one of their number, or
/// the first one if it has them in order. Nothing if there is none.
std::optional<std::size_t> row_dimension(std::span<const std::int64_t> sizes, std::int64_t rows);

/// The moments of some values of each channel.
struct BatchMoments {
  double count = 0;                   ///< of values of a channel
  std::vector<double> sums, squares;  ///< squares are of the distances from `means`
  std::vector<double> means;          ///< about sums / count
};

/// Replaces the moments of the own part by those of all parts, if there are several (Chan, Golub
/// and LeVeque, 1979, equation 2.1). The bits depend on the parts alone.
void take_all_parts(BatchMoments& moments);

/// The sums of these numbers over `parts` in their order. The own part adds nothing if it does not
/// count.
std::vector<double> sum_over(BatchParts& parts, std::vector<double> own);

}  // namespace mase::libtorch
