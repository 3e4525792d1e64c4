// SPDX-License-Identifier: Apache-2.0
// Layers of PyTorch that exporters write with several operators: the last of these becomes the
// layer, so that it has one name, one row of the op table and one piece of hardware.
#pragma once

#include "onnx/import/call.hpp"

namespace mase::onnx {

/// A product that is the end of x sigmoid(x) or of GELU, x (1 + erf(x / sqrt 2)) / 2 in any order.
/// Gives its result and returns true if it is.
bool activation_of_product(Call& call);
/// A sum that is the end of a layer norm, (x - mean) / sqrt(variance + eps) weight + bias.
bool norm_of_sum(Call& call);
/// A mean over the last two dimensions that the file says is an adaptive pool.
bool pool_of_mean(Call& call);

}  // namespace mase::onnx
