// SPDX-License-Identifier: Apache-2.0
// Gives LibTorch access to a checked archive.
#include "torch/import/load_module.hpp"

#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/serialization/import.h>

#include <memory>

#include "checkpoint/archive.hpp"
#include "torch/import/check_code.hpp"
#include "torch/import/registry_guard.hpp"

namespace mase::libtorch {
namespace {

class ImageAdapter : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit ImageAdapter(const ZipReader& archive)
      : archive_(archive), image_(checkpoint::loadable_image(archive_)) {}
  std::size_t size() const override { return image_.size(); }
  std::size_t read(std::uint64_t position, void* out, std::size_t count,
                   const char* /*what*/) const override {
    return image_.read(position, out, count);
  }

 private:
  ZipReader archive_;  ///< a copy, which keeps the bytes alive as long as the adapter
  ZipImage image_;
};

}  // namespace

torch::jit::Module load_module(const ZipReader& archive) {
  refuse_load_time_code(archive);
  const RegistryGuard guard;
  return torch::jit::load(std::make_shared<ImageAdapter>(archive), c10::Device(c10::kCPU));
}

}  // namespace mase::libtorch
