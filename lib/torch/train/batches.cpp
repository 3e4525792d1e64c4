// SPDX-License-Identifier: Apache-2.0
// Shuffles rows and gathers batches.
#include "torch/train/batches.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "base/random.hpp"
#include "torch/run/tensors.hpp"

namespace mase::train {
namespace {

std::vector<std::byte*> buffers(const std::vector<at::Tensor>& tensors) {
  std::vector<std::byte*> pointers;
  for (const at::Tensor& tensor : tensors)
    pointers.push_back(static_cast<std::byte*>(tensor.data_ptr()));
  return pointers;
}

}  // namespace

Batches::Batches(const data::Dataset& data, std::int64_t batch_size, std::uint64_t seed,
                 const data::AugmentOptions& augment)
    : data_(data),
      batch_size_(std::min(batch_size, data.row_count())),
      seed_(seed),
      augmenter_(augment, data, seed) {
  for (const data::InputColumn& input : data.inputs)
    inputs_.push_back(at::empty(input.shape(batch_size_), libtorch::scalar_type(input.dtype())));
  for (const data::Target& target : data.targets)
    targets_.push_back(
        at::empty(target.shape(batch_size_), libtorch::scalar_type(target.values.dtype())));
}

void Batches::shuffle(std::int64_t epoch) {
  const auto count = static_cast<std::int64_t>(data_.train.size());
  augmenter_.begin(epoch);
  order_ = Random(seed_, static_cast<std::uint64_t>(epoch)).permutation(count);
  for (std::int64_t& row : order_) row = data_.train[static_cast<std::size_t>(row)];
}

std::vector<c10::IValue> Batches::inputs() const {
  std::vector<c10::IValue> inputs;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    inputs.emplace_back(data_.inputs[i].batch > 0 ? inputs_[i] : inputs_[i].narrow(0, 0, rows_));
  return inputs;
}

std::vector<at::Tensor> Batches::targets() const {
  std::vector<at::Tensor> targets;
  for (const at::Tensor& target : targets_) targets.push_back(target.narrow(0, 0, rows_));
  return targets;
}

std::int64_t Batches::load(std::int64_t index) {
  return gather(order_, index * batch_size_, batch_size_, &augmenter_);
}

std::int64_t Batches::load(const std::vector<std::int64_t>& rows, std::int64_t first) {
  return gather(rows, first, batch_size_, nullptr);
}

std::int64_t Batches::load(const std::vector<std::int64_t>& rows, std::int64_t first,
                           std::int64_t most) {
  return gather(rows, first, most, nullptr);
}

std::int64_t Batches::gather(const std::vector<std::int64_t>& rows, std::int64_t first,
                             std::int64_t most, const data::Augmenter* augmenter) {
  rows_ = std::min(most, static_cast<std::int64_t>(rows.size()) - first);
  data_.gather(rows, first, rows_, buffers(inputs_), buffers(targets_), augmenter);
  return rows_;
}

}  // namespace mase::train
