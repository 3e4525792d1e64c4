// SPDX-License-Identifier: Apache-2.0
// Each block has addresses in a mapping without rights, and bytes on the heap.
#include "pretend_device/memory.hpp"

#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace pretend {
namespace {

std::atomic<std::size_t> bytes_in_use = 0;

std::size_t limit() {
  static const std::size_t given = [] {
    const char* text = std::getenv("PRETEND_DEVICE_BYTES");
    return text ? std::strtoull(text, nullptr, 10) : ~std::size_t{0};
  }();
  return given;
}

struct Block {
  explicit Block(std::size_t wanted) : size(wanted) {
    if (bytes_in_use.fetch_add(size) + size > limit()) {
      bytes_in_use -= size;
      TORCH_CHECK_WITH(OutOfMemoryError, false, "pretend device out of memory. Tried to allocate ",
                       size, " bytes");
    }
    address = ::mmap(nullptr, std::max<std::size_t>(size, 1), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TORCH_CHECK(address != MAP_FAILED, "no addresses for the pretend device");
    bytes = static_cast<std::byte*>(std::aligned_alloc(64, (size + 64) / 64 * 64));
  }
  ~Block() {
    ::munmap(address, std::max<std::size_t>(size, 1));
    std::free(bytes);
    bytes_in_use -= size;
  }
  Block(const Block&) = delete;

  std::size_t size;
  void* address;
  std::byte* bytes;
};

void release(void* block) { delete static_cast<Block*>(block); }

struct Allocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t size) override {
    auto block = std::make_unique<Block>(size);
    void* const address = block->address;
    return {address, block.release(), release, c10::Device(type, current_device())};
  }
  void copy_data(void*, const void*, std::size_t) const override {
    TORCH_CHECK(false, "the pretend device copies tensors, not addresses");
  }
};

Allocator the_allocator;
REGISTER_ALLOCATOR(type, &the_allocator);

Block& block_of(const c10::Storage& storage) {
  return *static_cast<Block*>(storage.data_ptr().get_context());
}

}  // namespace

c10::DeviceIndex& current_device() {
  thread_local c10::DeviceIndex current = 0;
  return current;
}

c10::Allocator& allocator() { return the_allocator; }

void resize(const c10::Storage& storage, std::size_t size) {
  c10::DataPtr fresh = the_allocator.allocate(size);
  if (storage.nbytes() > 0)
    std::memcpy(static_cast<Block*>(fresh.get_context())->bytes, block_of(storage).bytes,
                std::min(size, storage.nbytes()));
  storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(fresh));
  storage.unsafeGetStorageImpl()->set_nbytes(size);
}

at::Tensor host_view(const at::Tensor& tensor) {
  if (tensor.device().type() != type) return tensor;
  const c10::Storage storage = tensor.storage();
  const auto options = at::TensorOptions().dtype(tensor.dtype());
  if (storage.nbytes() == 0) return at::empty_strided(tensor.sizes(), tensor.strides(), options);
  std::byte* const first =
      block_of(storage).bytes +
      static_cast<std::size_t>(tensor.storage_offset()) * tensor.dtype().itemsize();
  return at::from_blob(
      first, tensor.sizes(), tensor.strides(), [storage](void*) {}, options);
}

}  // namespace pretend
