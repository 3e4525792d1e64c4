// SPDX-License-Identifier: Apache-2.0
// The format of one port while training: quantized forward, straight-through backward, in buffers
// that are reused from batch to batch.
#pragma once

#include <ATen/core/Tensor.h>

#include "formats/format.hpp"

namespace mase::train {

/// Quantizes the values at one port while training.
class PortQuantizer {
 public:
  PortQuantizer() = default;
  /// `format` must outlive the quantizer; what it points at may be replaced between two steps.
  /// `step_gradient`, where defined, is the scalar that gets the gradient of the step's logarithm.
  PortQuantizer(const formats::Format* format, at::Tensor step_gradient)
      : format_(format), step_gradient_(std::move(step_gradient)) {}

  bool has_format() const { return format_ != nullptr; }
  bool learns() const { return step_gradient_.defined(); }

  /// Whether `backward` changes nothing.
  bool passes_gradient() const;

  /// The values on the grid. `raw` must keep its values until `backward` is done.
  at::Tensor forward(const at::Tensor& raw);

  /// d loss / d raw from d loss / d values: `gradient` itself where nothing is clipped, else a
  /// buffer of the quantizer. Sets the step's gradient.
  at::Tensor backward(const at::Tensor& gradient);

  /// The same in place, for the gradient of a parameter.
  void backward_in_place(at::Tensor& gradient);

 private:
  void write_gradient(const at::Tensor& gradient, at::Tensor& into);

  const formats::Format* format_ = nullptr;
  at::Tensor step_gradient_, raw_, values_, gradient_;
};

}  // namespace mase::train
