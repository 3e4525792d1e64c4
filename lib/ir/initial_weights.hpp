// SPDX-License-Identifier: Apache-2.0
// The weights that a layer starts with, for models built and layers added without LibTorch.
#pragma once

#include <cstdint>

#include "base/array.hpp"

namespace mase::ir {

/// float32, uniform in +-1/sqrt(fan_in): what torch.nn draws for weights and biases of linear and
/// convolution layers (kaiming_uniform with a = sqrt(5); He et al., ICCV 2015). `fan_in` is the
/// number of weights that make one output. A model's tensors have a stream each.
Array initial_weights(const Shape& shape, std::int64_t fan_in, std::uint64_t seed,
                      std::uint64_t stream);

}  // namespace mase::ir
