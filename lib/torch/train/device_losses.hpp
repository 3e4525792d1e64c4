// SPDX-License-Identifier: Apache-2.0
// The losses of data/loss.hpp by operators of LibTorch, for outputs that lie on another device.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "data/loss.hpp"

namespace mase::train {

/// The targets of outputs, on their device.
struct DeviceWanted {
  at::Tensor values;         ///< int64 classes, or float32 numbers of the outputs' shape
  at::Tensor class_weights;  ///< [at least their number]; undefined: 1 each
};

/// The mean loss of a batch in float32, a tensor of one number through which gradients flow to
/// `outputs`, [..., width]. `loss` is the name of a row of data::loss_table(). The options' own
/// class weights are not read.
at::Tensor loss_by_operators(const std::string& loss, const at::Tensor& outputs,
                             const DeviceWanted& wanted, const data::LossOptions& options);

}  // namespace mase::train
