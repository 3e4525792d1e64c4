// SPDX-License-Identifier: Apache-2.0
// The definition of the binary format for one element (formats.md, sections 2 and 4).
#pragma once

#include <cstdint>

#include "formats/low_bit/three_way_kernel.hpp"
#include "formats/rounding.hpp"
#include "formats/seed.hpp"

namespace mase::formats {

/// All parameters of a binary format, resolved.
struct BinarySpec {
  bool bipolar = true;  ///< values +-alpha by x >= 0, otherwise alpha and 0 by x > 0
  bool stochastic = false;
  bool scaled = false;  ///< alpha is the slice's mean magnitude, otherwise 1
  Profile profile = Profile::exact;
  Seed seed{};
};

/// The code of one element; `index` counts elements of the tensor (stochastic only).
bool binary_code(const BinarySpec& spec, float x, std::uint64_t index);

/// The value of a code. Never -0 for finite alpha.
float binary_value(const BinarySpec& spec, bool code, float alpha);

/// Fake quantization of one element. NaN stays NaN in `exact` and becomes the lower value in
/// `reference`.
float quantize_binary_scalar(const BinarySpec& spec, float x, float alpha, std::uint64_t index);

/// The same, if not stochastic, as values and limits for kernels.
kernels::ThreeWay binary_three_way(const BinarySpec& spec, float alpha);

}  // namespace mase::formats
