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
                 const data::AugmentOptions& augment, const backend::Ranks& ranks,
                 std::optional<int> shards)
    : data_(data),
      batch_size_(std::min(batch_size, data.row_count())),
      seed_(seed),
      ranks_(ranks),
      shards_(Shards::of(ranks, shards, batch_size * ranks.size)),
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
  if (data_.by_length)
    order_ = data::rows_by_length(data_, std::move(order_), rows_of_all(), random);
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

std::int64_t Batches::load(const Place& place, const Place& next) {
  return load(order_, place, next, &augmenter_);
}

std::int64_t Batches::load(std::int64_t index) {
  return load({index, shards_.first}, {index + 1, shards_.first});
}

std::int64_t Batches::load(const std::vector<std::int64_t>& rows, const Place& place,
                           const Place& next) {
  return load(rows, place, next, nullptr);
}

std::int64_t Batches::load(const std::vector<std::int64_t>& rows, std::int64_t first,
                           std::int64_t most) {
  const auto begin = rows.begin() + first;
  Part wanted;
  wanted.all.assign(begin, begin + std::min(most, static_cast<std::int64_t>(rows.end() - begin)));
  wanted.own = wanted.all;
  const auto count = static_cast<std::int64_t>(wanted.own.size());
  wanted.share = {count, count};
  take(std::move(wanted));
  return count;
}

Batches::Part Batches::part(const std::vector<std::int64_t>& rows, const Place& place,
                            const data::Augmenter* augmenter) const {
  const std::int64_t first = place.batch * rows_of_all();
  const auto count =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(rows.size()) - first, 0, rows_of_all());
  if (count == 0) return {};
  const auto all = rows.begin() + first;
  const std::int64_t begin = shards_.begin(place.shard, count);
  const std::int64_t end = shards_.begin(place.shard + 1, count);
  Part made{{all, all + count}, {all + begin, all + end}, augmenter};
  made.share = {end - begin, count, begin};
  if (made.own.empty()) made.own = {made.all.front()};
  return made;
}

std::int64_t Batches::load(const std::vector<std::int64_t>& rows, const Place& place,
                           const Place& next, const data::Augmenter* augmenter) {
  take(part(rows, place, augmenter));
  if (data_.has_source())
    if (Part ahead = part(rows, next, augmenter); !ahead.own.empty()) begin_next(std::move(ahead));
  return share_.all;
}

void Batches::take(Part part) {
  rows_ = static_cast<std::int64_t>(part.own.size());
  share_ = part.share;
  part_ = std::move(part);
  if (!take_next(part_)) fill(part_, now_);
}

void Batches::fill(const Part& part, Buffers& into) const {
  into.width = data_.width_of(part.all);
  data_.gather(part.own, 0, static_cast<std::int64_t>(part.own.size()), buffers(into.inputs),
               buffers(into.targets), part.augmenter, into.width);
}

void Batches::begin_next(Part part) {
  next_part_ = std::move(part);
  next_done_ = std::async(std::launch::async, [this] { fill(next_part_, next_); });
}

bool Batches::take_next(const Part& part) {
  if (!next_done_.valid()) return false;
  if (part != next_part_) {
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
