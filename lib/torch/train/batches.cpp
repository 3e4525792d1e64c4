// SPDX-License-Identifier: Apache-2.0
// Shuffling and gathering.
#include "torch/train/batches.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "base/random.hpp"

namespace mase::train {

Batches::Batches(const data::Dataset& data, std::int64_t batch_size, std::uint64_t seed)
    : data_(data), batch_size_(std::min(batch_size, data.inputs.shape()[0])), seed_(seed) {
  Shape shape = data.inputs.shape();
  shape[0] = batch_size_;
  inputs_ = at::empty(shape, at::kFloat);
  labels_.resize(static_cast<std::size_t>(batch_size_));
}

void Batches::shuffle(std::int64_t epoch) {
  const auto count = static_cast<std::int64_t>(data_.train.size());
  order_ = Random(seed_, static_cast<std::uint64_t>(epoch)).permutation(count);
  for (std::int64_t& row : order_) row = data_.train[static_cast<std::size_t>(row)];
}

std::int64_t Batches::load(std::int64_t index) { return load(order_, index * batch_size_); }

std::int64_t Batches::load(const std::vector<std::int64_t>& rows, std::int64_t first) {
  rows_ = std::min(batch_size_, static_cast<std::int64_t>(rows.size()) - first);
  data_.gather(rows, first, rows_, inputs_.data_ptr<float>(), labels_.data());
  return rows_;
}

}  // namespace mase::train
