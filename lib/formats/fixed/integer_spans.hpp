// SPDX-License-Identifier: Apache-2.0
// Integer formats over whole tensors, by the fastest kernel or, without a kernel, the definition.
#pragma once

#include <span>
#include <string>

#include "formats/fixed/integer_scalar.hpp"
#include "formats/format.hpp"

namespace mase::formats {

/// Fake quantization; `in` and `out` have the same size and may be the same memory.
void quantize_integer(const IntegerSpec& spec, std::span<const float> in, std::span<float> out);

/// The same by a kernel for GPUs.
DeviceQuantizer integer_on_device(const IntegerSpec& spec);

/// The codes of all elements. Error(Fault::file) names the index of the first NaN.
Encoded encode_integer(const IntegerSpec& spec, std::span<const float> in);

/// Decodes; Error(Fault::file) when the number or width of codes does not fit the format and `out`.
void decode_integer(const IntegerSpec& spec, const Encoded& in, std::span<float> out);

/// The codes of the elements of the tensor `in` from `first` on, sign-extended. Error(Fault::file)
/// names the index of a NaN. The rounding must not be stochastic.
void integer_codes(const IntegerSpec& spec, std::span<const float> in, std::size_t first,
                   std::span<std::uint32_t> codes);

/// The values of codes that have no bits above the format's width.
void integer_values(const IntegerSpec& spec, std::span<const std::uint32_t> codes,
                    std::span<float> out);

/// How TorchScript writes the scale of a grid: as numbers, or as names of tensors.
struct ScriptScale {
  std::string scale;      ///< 2^frac_width
  std::string step;       ///< 2^-frac_width
  std::string half_step;  ///< 2^-frac_width / 2
  bool below_one;         ///< true when a scale is below 1
};

/// The TorchScript expression for the values of `x` on the grid of `spec`, with this scale instead.
std::string integer_script(const IntegerSpec& spec, const ScriptScale& scale);

/// TorchScript body (Format::torchscript) that gives the bits of `quantize_integer`.
/// Error(Fault::unsupported) for stochastic rounding.
std::string integer_torchscript(const IntegerSpec& spec);

}  // namespace mase::formats
