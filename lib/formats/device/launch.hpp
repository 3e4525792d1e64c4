// SPDX-License-Identifier: Apache-2.0
// Runs a function for all threads of a kernel: on a GPU, or, when a source is compiled for
// processors, in a loop, so that tests without a GPU run the same text. (CUDA's compiler includes
// the header of its runtime by itself.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "formats/device_span.hpp"

namespace mase::formats::kernels {
namespace {

#if defined(__CUDACC__)

constexpr std::size_t block_threads = 256;

template <class Body>
__global__ void __launch_bounds__(block_threads) run_thread(const Body body) {
  body(std::size_t{blockIdx.x} * block_threads + threadIdx.x,
       std::size_t{gridDim.x} * block_threads);
}

/// Makes a GPU the calling thread's own until the end of a scope.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    status_ = cudaGetDevice(&before_);
    if (status_ == cudaSuccess && before_ != device) status_ = cudaSetDevice(device);
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  cudaError_t status() const { return status_; }

 private:
  int before_ = 0;
  cudaError_t status_;
};

/// Starts body(thread, threads) for every thread below `threads`, of which there are at least 1 and
/// about `wanted`: bodies go through their work in steps of `threads`.
template <class Body>
const char* launch(const Body& body, std::size_t wanted, const DeviceSpan& span) {
  constexpr std::size_t most_blocks = INT32_MAX;
  if (wanted == 0) return nullptr;
  const auto blocks =
      static_cast<unsigned>(std::min(most_blocks, (wanted + block_threads - 1) / block_threads));
  const CurrentDevice current(span.device);
  cudaError_t status = current.status();
  void* arguments[] = {const_cast<Body*>(&body)};
  if (status == cudaSuccess)
    status =
        cudaLaunchKernel(reinterpret_cast<const void*>(run_thread<Body>), dim3(blocks),
                         dim3(block_threads), arguments, 0, static_cast<cudaStream_t>(span.stream));
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

#else

/// The same one thread after the other: few threads, so that each takes several steps.
template <class Body>
const char* launch(const Body& body, std::size_t wanted, const DeviceSpan&) {
  constexpr std::size_t most_threads = 96;
  const std::size_t threads = std::min(wanted, most_threads);
  for (std::size_t thread = 0; thread < threads; ++thread) body(thread, threads);
  return nullptr;
}

#endif

}  // namespace
}  // namespace mase::formats::kernels
