// SPDX-License-Identifier: Apache-2.0
// The adders that products with a matrix of constants ask for, from the bits of its weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hardware/design/cost.hpp"
#include "hardware/design/modules/primitives.hpp"

namespace mase::design {

/// Weights [output][input] of `bits` bits each, as the digits of HexBits.
struct ConstantWeights {
  const std::string& digits;
  std::int64_t inputs, outputs;
  int bits;
  bool is_signed;
};

struct ConstantSums {
  std::vector<Cost> joins;  ///< of the columns of each output that has a bit set
  Cost shared;              ///< of the sums of inputs, those that several outputs share once
};

ConstantSums constant_sums(const ConstantWeights& constants, Width input);

}  // namespace mase::design
