// SPDX-License-Identifier: Apache-2.0
// Measures the speed of fake quantization on a device of LibTorch relative to a copy of the same
// tensor on this device. A copy is timed before each measurement. Both read and write a matrix with
// rows of 4096 normal numbers once, and wait for the device. On the CPU it is the processor time of
// one thread.
//
// Usage: bench_device DEVICE [ELEMENTS] [ROUNDS]. Without the device it prints that nothing is run.
#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "measured_formats.hpp"
#include "torch/run/device.hpp"
#include "torch/run/kernel_quantizer.hpp"
#include "torch/run/quantize_op.hpp"

namespace {

using namespace mase;

constexpr std::int64_t row = 4096;

class DeviceBench {
 public:
  DeviceBench(c10::Device device, std::int64_t elements, int rounds)
      : device_(device),
        rounds_(rounds),
        in_(at::randn({std::max<std::int64_t>(1, elements / row), row}).to(device)),
        copy_(at::zeros_like(in_)),
        made_(at::zeros_like(in_)) {}

  /// The seconds of a copy divided by those of quantizing, the median of all rounds.
  double share(const formats::Format& format) {
    const auto quantize = [&] {
      if (device_.is_cpu())
        libtorch::quantize_into(in_, format, made_);  // the system gives new pages slowly
      else
        made_ = libtorch::quantize(in_, format);
    };
    quantize();
    std::vector<double> shares;
    for (int round = 0; round < rounds_; ++round) {
      const double copying = seconds_of([&] { copy_.copy_(in_); });
      shares.push_back(copying / seconds_of(quantize));
    }
    return median(shares);
  }

  /// What computes the format there.
  const char* means(const formats::Format& format) {
    if (device_.is_cpu()) return "a kernel of the CPU";
    return libtorch::quantize_by_kernel(in_, format, copy_) ? "a kernel" : "operators";
  }

 private:
  void wait() const {
    if (!device_.is_cpu())
      c10::impl::VirtualGuardImpl(device_.type()).synchronizeDevice(device_.index());
  }
  double seconds_of(const std::function<void()>& run) const {
    wait();
    const double begin = now();
    run();
    wait();
    return now() - begin;
  }
  double now() const {
    timespec time{};
    clock_gettime(device_.is_cpu() ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  static double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  }

  c10::Device device_;
  int rounds_;
  at::Tensor in_, copy_, made_;
};

/// The device, or nothing after a line that says why.
std::optional<c10::Device> find_or_tell(const std::string& name) {
  try {
    return libtorch::find_device(name, 0);
  } catch (const Error& error) {
    std::printf("not run: LibTorch has no device %s\n", name.c_str());
    std::fprintf(stderr, "%s\n", error.what());
    return std::nullopt;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) config_error("usage: bench_device DEVICE [ELEMENTS] [ROUNDS]");
  const std::optional<c10::Device> device = find_or_tell(argv[1]);
  if (!device) return 0;
  at::set_num_threads(1);
  const c10::InferenceMode no_gradients;
  const std::int64_t elements = argc > 2 ? std::stoll(argv[2]) : std::int64_t{1} << 28;
  DeviceBench bench(*device, elements, argc > 3 ? std::stoi(argv[3]) : 5);
  for (const std::string& text : measured_formats) {
    const formats::Format format = formats::parse_format(text);
    std::printf("%-48s %6.2f of a copy, by %s\n", text.c_str(), bench.share(format),
                bench.means(format));
    std::fflush(stdout);
  }
  return 0;
} catch (const mase::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
