// SPDX-License-Identifier: Apache-2.0
// Batches gathers the shuffled training rows of an epoch into reused tensors, ahead of their use
// where that takes long.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <future>
#include <optional>
#include <span>
#include <vector>

#include "data/augment.hpp"
#include "data/dataset.hpp"

namespace mase::train {

/// The training rows, shuffled and cut into batches. Those of a data set that makes its rows when
/// they are asked for are gathered while the batch before is used: two batches are in memory.
class Batches {
 public:
  Batches(const data::Dataset& data, std::int64_t batch_size, std::uint64_t seed,
          const data::AugmentOptions& augment = {});
  ~Batches();
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

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
  /// The tensors of a batch.
  struct Buffers {
    std::vector<at::Tensor> inputs, targets;
    std::optional<std::int64_t> width{};  ///< of columns of tokens, if not all of it is used
  };

  Buffers make_buffers() const;
  std::int64_t gather(const std::vector<std::int64_t>& rows, std::int64_t first, std::int64_t most,
                      const data::Augmenter* augmenter);
  void fill(const std::vector<std::int64_t>& rows, const data::Augmenter* augmenter,
            Buffers& into) const;
  /// Begins to gather these rows in another thread.
  void begin_next(std::vector<std::int64_t> rows, const data::Augmenter* augmenter);
  /// Whether the rows that another thread gathers are these; waits for them, and takes them.
  bool take_next(const std::vector<std::int64_t>& rows, const data::Augmenter* augmenter);
  void drop_next();

  const data::Dataset& data_;
  std::int64_t batch_size_, rows_ = 0;
  std::uint64_t seed_;
  data::Augmenter augmenter_;
  std::vector<std::int64_t> order_;
  Buffers now_, next_;
  std::vector<std::int64_t> next_rows_;
  const data::Augmenter* next_augmenter_ = nullptr;
  std::future<void> next_done_;  ///< valid while rows are gathered ahead
};

}  // namespace mase::train
