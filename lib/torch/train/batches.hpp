// SPDX-License-Identifier: Apache-2.0
// Batches gathers the shuffled training rows of an epoch into reused tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <span>
#include <vector>

#include "data/augment.hpp"
#include "data/dataset.hpp"

namespace mase::train {

/// The training rows, shuffled and cut into batches.
class Batches {
 public:
  Batches(const data::Dataset& data, std::int64_t batch_size, std::uint64_t seed,
          const data::AugmentOptions& augment = {});

  /// Puts the rows of the train part into the order of this epoch, a function of (seed, epoch).
  void shuffle(std::int64_t epoch);
  /// Gathers batch `index` of the shuffled epoch with the changes of this epoch, and returns its
  /// number of rows.
  std::int64_t load(std::int64_t index);
  /// Gathers rows [first, first + at most the batch size) of `rows` as they are.
  std::int64_t load(const std::vector<std::int64_t>& rows, std::int64_t first);
  /// The same for at most `most` rows.
  std::int64_t load(const std::vector<std::int64_t>& rows, std::int64_t first, std::int64_t most);

  /// The inputs of the last loaded batch, valid until the next load.
  std::vector<c10::IValue> inputs() const;
  /// The targets of its rows, in the order of the data set's.
  std::vector<at::Tensor> targets() const;

 private:
  std::int64_t gather(const std::vector<std::int64_t>& rows, std::int64_t first, std::int64_t most,
                      const data::Augmenter* augmenter);

  const data::Dataset& data_;
  std::int64_t batch_size_, rows_ = 0;
  std::uint64_t seed_;
  data::Augmenter augmenter_;
  std::vector<std::int64_t> order_;
  std::vector<at::Tensor> inputs_, targets_;
};

}  // namespace mase::train
