// SPDX-License-Identifier: Apache-2.0
// Applies the format of a port in training: quantized forward, straight-through backward, in
// buffers that are reused from batch to batch.
#pragma once

#include <ATen/core/Tensor.h>

#include "formats/format.hpp"
#include "torch/run/training_rounding.hpp"

namespace mase::train {

/// Quantizes the values at one port while training.
class PortQuantizer {
 public:
  PortQuantizer() = default;
  /// The objects pointed to must outlive the quantizer, and may change between two batches.
  struct Source {
    const formats::Format* format = nullptr;
    const libtorch::TrainingRounding* rounding = nullptr;
    std::uint64_t place = 0;  ///< place for random numbers
    libtorch::Rounded what = libtorch::Rounded::data;
    at::Tensor step_gradient{};  ///< if defined, gets the gradient of the step's logarithm
  };
  explicit PortQuantizer(Source source) : source_(std::move(source)) {}

  bool has_format() const { return source_.format != nullptr; }
  bool learns() const { return source_.step_gradient.defined(); }

  /// Whether `backward` passes gradients unchanged.
  bool passes_gradient() const;

  /// Rounds the values to the format. `raw` must keep its values until `backward` is done.
  at::Tensor forward(const at::Tensor& raw);

  /// Computes d loss / d raw from d loss / d values. Returns `gradient` itself if nothing is
  /// rounded or clipped, otherwise a buffer of the quantizer. Sets the step's gradient.
  at::Tensor backward(const at::Tensor& gradient);

  /// The same in place, for the gradient of a parameter.
  void backward_in_place(at::Tensor& gradient);

 private:
  void write_gradient(const at::Tensor& gradient, at::Tensor& into);
  libtorch::RoundedSizes sizes_of(const at::Tensor& values) const;

  Source source_;
  at::Tensor raw_, values_, gradient_;
};

}  // namespace mase::train
