// SPDX-License-Identifier: Apache-2.0
// Sums of residual binary planes over a span, for each instruction set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "formats/low_bit/binary_residual_scalar.hpp"
#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// The means of all levels, in both types of residuals.
struct ResidualMeans {
  static constexpr std::size_t most_levels = 8;
  std::size_t levels = 0;
  std::array<double, most_levels> exact{};
  std::array<float, most_levels> reference{};
};

ResidualMeans residual_means(const ResidualSpec& spec);

/// Fake quantization; `in` and `out` are the same or do not overlap.
using ResidualKernel = void (*)(const ResidualMeans& means, const float* in, float* out,
                                std::size_t count);

/// The codes; returns true when there is a NaN, which has no code.
using ResidualEncoder = bool (*)(const ResidualMeans& means, const float* in, std::uint32_t* out,
                                 std::size_t count);

/// Kernels that give the bits of quantize_residual_scalar and residual_code on all sets.
struct ResidualKernels {
  ResidualKernel exact, reference;
  ResidualEncoder encode_exact, encode_reference;
};
MASE_KERNELS(ResidualKernels, residual_kernels, avx512);

}  // namespace mase::formats::kernels
