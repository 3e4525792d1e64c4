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

/// Neighbouring threads of a warp, a power of two of them, which work on the same.
class Group {
 public:
  __device__ Group(std::size_t thread, unsigned lanes)
      : lanes_(lanes), lane_(static_cast<unsigned>(thread) % lanes) {
    const unsigned first = threadIdx.x % warpSize - lane_;
    mask_ = lanes == 32 ? 0xffffffffU : ((1U << lanes) - 1) << first;
  }
  __device__ std::size_t size() const { return lanes_; }
  template <class OfLane>
  __device__ std::int32_t largest(const OfLane& of_lane) const {
    std::int32_t found = of_lane(lane_);
    for (unsigned distance = lanes_ / 2; distance > 0; distance /= 2)
      found = max(found, __shfl_xor_sync(mask_, found, distance));
    return found;
  }
  template <class OfLane>
  __device__ void for_each(const OfLane& of_lane) const {
    of_lane(lane_);
  }

 private:
  unsigned lanes_, lane_, mask_;
};

/// What a thread does: the work of its group.
template <class Body>
struct GroupThread {
  Body body;
  std::size_t work;
  unsigned lanes;

  __device__ void operator()(std::size_t thread, std::size_t threads) const {
    const Group group(thread, lanes);
    for (std::size_t i = thread / lanes; i < work; i += threads / lanes) body(group, i);
  }
};

/// Starts body(group, i) for every i below `work`, each by a group of `lanes` threads.
template <class Body>
const char* launch_groups(const Body& body, std::size_t work, std::size_t lanes,
                          const DeviceSpan& span) {
  return launch(GroupThread<Body>{body, work, static_cast<unsigned>(lanes)}, work * lanes, span);
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

/// A group of threads, one lane after the other.
struct Group {
  std::size_t lanes;

  std::size_t size() const { return lanes; }
  template <class OfLane>
  std::int32_t largest(const OfLane& of_lane) const {
    std::int32_t found = of_lane(0);
    for (std::size_t lane = 1; lane < lanes; ++lane) found = std::max(found, of_lane(lane));
    return found;
  }
  template <class OfLane>
  void for_each(const OfLane& of_lane) const {
    for (std::size_t lane = 0; lane < lanes; ++lane) of_lane(lane);
  }
};

template <class Body>
const char* launch_groups(const Body& body, std::size_t work, std::size_t lanes,
                          const DeviceSpan&) {
  for (std::size_t i = 0; i < work; ++i) body(Group{lanes}, i);
  return nullptr;
}

#endif

}  // namespace
}  // namespace mase::formats::kernels
