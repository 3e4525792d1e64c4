// SPDX-License-Identifier: Apache-2.0
// The definition of residual binary values for one element (formats.md, sections 2 and 4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/rounding.hpp"

namespace mase::formats {

/// All parameters, resolved: the magnitude of each level's plane, not negative.
struct ResidualSpec {
  std::vector<double> means;
  Profile profile = Profile::exact;
};

/// The value of one element on all planes: r_0 = x, out_l = beta(r_l) * means_l, r_(l+1) = r_l -
/// out_l. `exact`: residuals in double, beta(r) = 1 for r >= 0, otherwise -1. `reference`: in
/// float32, beta = c + (sign(c) - c) with c = clamp(r, -1, 1), so that beta(0) = 0. NaN gives NaN
/// on all planes.
void residual_planes(const ResidualSpec& spec, float x, std::span<float> planes);

/// The code: bit l is 1 when beta(r_l) is not negative. x must not be NaN.
std::uint32_t residual_code(const ResidualSpec& spec, float x);

/// The sum of a code's planes, rounded once (`exact`) or in float32 from level 0 on (`reference`).
float residual_value(const ResidualSpec& spec, std::uint32_t code);

/// Fake quantization of one element: the sum of its planes. NaN stays NaN.
float quantize_residual_scalar(const ResidualSpec& spec, float x);

}  // namespace mase::formats
