// SPDX-License-Identifier: Apache-2.0
// Shuffles rows and gathers batches, the next one in another thread.
#include "torch/train/batches.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "base/random.hpp"
#include "data/group_by_length.hpp"
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
      augmenter_(augment, data, seed),
      now_(make_buffers()) {
  if (data.has_source()) next_ = make_buffers();
}

Batches::~Batches() { drop_next(); }

Batches::Buffers Batches::make_buffers() const {
  Buffers made;
  for (const data::InputColumn& input : data_.inputs)
    made.inputs.push_back(
        at::empty(input.shape(batch_size_), libtorch::scalar_type(input.dtype())));
  for (const data::Target& target : data_.targets)
    made.targets.push_back(
        at::empty(target.shape(batch_size_), libtorch::scalar_type(target.values.dtype())));
  return made;
}

void Batches::shuffle(std::int64_t epoch) {
  const auto count = static_cast<std::int64_t>(data_.train.size());
  drop_next();  // it reads the epoch
  augmenter_.begin(epoch);
  Random random(seed_, static_cast<std::uint64_t>(epoch));
  order_ = random.permutation(count);
  for (std::int64_t& row : order_) row = data_.train[static_cast<std::size_t>(row)];
  if (data_.by_length) order_ = data::rows_by_length(data_, std::move(order_), batch_size_, random);
}

std::vector<c10::IValue> Batches::inputs() const {
  std::vector<c10::IValue> inputs;
  for (std::size_t i = 0; i < now_.inputs.size(); ++i) {
    const at::Tensor& all = now_.inputs[i];
    if (data_.inputs[i].batch > 0)
      inputs.emplace_back(all);
    else if (now_.width && data_.inputs[i].tokens)
      inputs.emplace_back(
          all.view({-1}).narrow(0, 0, rows_ * *now_.width).view({rows_, *now_.width}));
    else
      inputs.emplace_back(all.narrow(0, 0, rows_));
  }
  return inputs;
}

std::vector<at::Tensor> Batches::targets() const {
  std::vector<at::Tensor> targets;
  for (const at::Tensor& target : now_.targets) targets.push_back(target.narrow(0, 0, rows_));
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
  const auto part = [&](std::int64_t begin) {
    const auto count =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(rows.size()) - begin, 0, most);
    return std::vector(rows.begin() + begin, rows.begin() + begin + count);
  };
  const std::vector<std::int64_t> wanted = part(first);
  rows_ = static_cast<std::int64_t>(wanted.size());
  if (!take_next(wanted, augmenter)) fill(wanted, augmenter, now_);
  if (data_.has_source()) begin_next(part(first + rows_), augmenter);
  return rows_;
}

void Batches::fill(const std::vector<std::int64_t>& rows, const data::Augmenter* augmenter,
                   Buffers& into) const {
  into.width = data_.width_of(rows);
  data_.gather(rows, 0, static_cast<std::int64_t>(rows.size()), buffers(into.inputs),
               buffers(into.targets), augmenter, into.width);
}

void Batches::begin_next(std::vector<std::int64_t> rows, const data::Augmenter* augmenter) {
  if (rows.empty()) return;
  next_rows_ = std::move(rows);
  next_augmenter_ = augmenter;
  next_done_ = std::async(std::launch::async, [this] { fill(next_rows_, next_augmenter_, next_); });
}

bool Batches::take_next(const std::vector<std::int64_t>& rows, const data::Augmenter* augmenter) {
  if (!next_done_.valid()) return false;
  if (rows != next_rows_ || augmenter != next_augmenter_) {
    drop_next();
    return false;
  }
  next_done_.get();
  std::swap(now_, next_);
  return true;
}

void Batches::drop_next() {
  if (next_done_.valid()) next_done_.wait();
  next_done_ = {};
}

}  // namespace mase::train
