// SPDX-License-Identifier: Apache-2.0
// Cells are in buckets by storage. Dead cells are removed whenever the number of cells may have
// doubled, which costs constant time per cell.
#include "torch/import/watched_tensors.hpp"

#include <ATen/ops/zeros.h>

namespace mase::libtorch {
namespace {

const void* storage_of(const at::Tensor& tensor) {
  return tensor.defined() && tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl()
                                                  : nullptr;
}

const void* storage_of(const Ref& cell) {
  return cell && cell->value.isTensor() ? storage_of(cell->value.toTensor()) : nullptr;
}

}  // namespace

bool is_same_memory(const at::Tensor& a, const at::Tensor& b) {
  return a.data_ptr() == b.data_ptr() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.scalar_type() == b.scalar_type();
}

bool overlap(const at::Tensor& a, const at::Tensor& b) {
  if (!a.is_alias_of(b)) return false;
  if (a.scalar_type() != b.scalar_type()) return true;
  const auto elements = static_cast<std::int64_t>(a.storage().nbytes() / a.itemsize());
  const at::Tensor used = at::zeros({elements}, at::kBool);
  used.as_strided(a.sizes(), a.strides(), a.storage_offset()).fill_(true);
  return used.as_strided(b.sizes(), b.strides(), b.storage_offset()).any().item<bool>();
}

void WatchedTensors::add(const Ref& cell) {
  const void* storage = storage_of(cell);
  if (!storage) return;
  Cells& cells = by_storage_[storage];
  if (!cells.empty() && cells.back().lock() == cell) return;
  cells.push_back(cell);
  if (++count_ > sweep_at_) forget_dead();
}

std::vector<Ref> WatchedTensors::sharing(const at::Tensor& memory) {
  const void* storage = storage_of(memory);
  const auto bucket = by_storage_.find(storage);
  std::vector<Ref> found;
  if (!storage || bucket == by_storage_.end()) return found;
  count_ -= std::erase_if(bucket->second, [&](const std::weak_ptr<Cell>& weak) {
    const Ref cell = weak.lock();
    const bool elsewhere = !cell || storage_of(cell) != storage;
    if (!elsewhere) found.push_back(cell);
    return elsewhere;
  });
  return found;
}

void WatchedTensors::forget_dead() {
  for (auto& [storage, cells] : by_storage_)
    count_ -= std::erase_if(cells, [](const std::weak_ptr<Cell>& cell) { return cell.expired(); });
  std::erase_if(by_storage_, [](const auto& bucket) { return bucket.second.empty(); });
  sweep_at_ = 2 * count_ + 1024;
}

}  // namespace mase::libtorch
