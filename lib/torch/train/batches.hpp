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

#include "backend/ranks.hpp"
#include "data/augment.hpp"
#include "data/dataset.hpp"
#include "torch/train/shards.hpp"

namespace mase::train {

/// The training rows, shuffled and cut into batches of `batch_size` rows for each process, and
/// those into shards. The rows of a data set that makes them when they are asked for are
/// gathered while the batch before is used: two batches are in memory.
class Batches {
 public:
  /// The loaded part of a batch. One row is loaded even if the batch has fewer rows than shards;
  /// `rows` is 0 then.
  struct Share {
    std::int64_t rows = 0, all = 0, first = 0;
    double weight() const { return double(rows) / double(all); }
  };

  /// A shard of a batch.
  struct Place {
    std::int64_t batch = 0, shard = 0;
  };

  Batches(const data::Dataset& data, std::int64_t batch_size, std::uint64_t seed,
          const data::AugmentOptions& augment = {}, const backend::Ranks& ranks = {},
          std::optional<int> shards = {});
  ~Batches();
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  /// Puts the rows of the train part into the order of this epoch, a function of (seed, epoch).
  void shuffle(std::int64_t epoch);
  /// Gathers a shard of a batch of the shuffled epoch with the changes of this epoch, and returns
  /// the number of rows of all shards. `next` is the place that is probably loaded next.
  std::int64_t load(const Place& place, const Place& next);
  /// The same for the batches of `rows`, as they are.
  std::int64_t load(const std::vector<std::int64_t>& rows, const Place& place, const Place& next);
  /// The first shard of this process, and the same one of the batch that follows.
  std::int64_t load(std::int64_t index);
  /// Gathers rows [first, first + at most `most`) of `rows` as they are, in every process.
  std::int64_t load(const std::vector<std::int64_t>& rows, std::int64_t first, std::int64_t most);
  const Share& share() const { return share_; }
  const Shards& shards() const { return shards_; }
  /// The place after a shard of this process in the last one of batches [first, end): its next
  /// shard in the first of them, or its first one in the batch that follows.
  Place after(std::int64_t shard, std::int64_t first, std::int64_t end) const {
    return shard + 1 < shards_.end ? Place{first, shard + 1} : Place{end, shards_.first};
  }
  /// The rows of the last loaded batch in the data set, and those of them that are loaded.
  const std::vector<std::int64_t>& rows_of_batch() const { return part_.all; }
  const std::vector<std::int64_t>& rows_of_shard() const { return part_.own; }

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

  /// The rows of a batch, and those of them that this process gathers.
  struct Part {
    std::vector<std::int64_t> all, own;
    const data::Augmenter* augmenter = nullptr;
    Share share{};
    bool operator==(const Part& other) const {
      return own == other.own && all == other.all && augmenter == other.augmenter;
    }
  };

  Buffers make_buffers() const;
  std::int64_t rows_of_all() const { return batch_size_ * ranks_.size; }
  Part part(const std::vector<std::int64_t>& rows, const Place& place,
            const data::Augmenter* augmenter) const;
  std::int64_t load(const std::vector<std::int64_t>& rows, const Place& place, const Place& next,
                    const data::Augmenter* augmenter);
  void take(Part part);
  void fill(const Part& part, Buffers& into) const;
  /// Begins to gather these rows in another thread.
  void begin_next(Part part);
  /// Whether the rows that another thread gathers are these; waits for them, and takes them.
  bool take_next(const Part& part);
  void drop_next();

  const data::Dataset& data_;
  std::int64_t batch_size_, rows_ = 0;
  std::uint64_t seed_;
  backend::Ranks ranks_;
  Shards shards_;
  Share share_;
  Part part_;  ///< the last loaded one
  data::Augmenter augmenter_;
  std::vector<std::int64_t> order_;
  Buffers now_, next_;
  Part next_part_;
  std::future<void> next_done_;  ///< valid while rows are gathered ahead
};

}  // namespace mase::train
