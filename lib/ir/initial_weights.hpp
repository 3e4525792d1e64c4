// SPDX-License-Identifier: Apache-2.0
// Initial weights for models that are built, and layers that are added, without LibTorch.
#pragma once

#include <cstdint>

#include "base/array.hpp"

namespace mase::ir {

/// Returns float32 values, uniform in +-1/sqrt(fan_in), as torch.nn draws weights and biases of
/// linear and convolution layers (kaiming_uniform with a = sqrt(5); He et al., ICCV 2015). `fan_in`
/// is the number of weights per output. Every tensor of a model has a random stream of its own.
Array initial_weights(const Shape& shape, std::int64_t fan_in, std::uint64_t seed,
                      std::uint64_t stream);

}  // namespace mase::ir
