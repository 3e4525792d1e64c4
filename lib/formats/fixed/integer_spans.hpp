// SPDX-License-Identifier: Apache-2.0
// Integer formats over whole tensors: the fastest kernel where there is one, else the definition.
#pragma once

#include <span>
#include <string>

#include "formats/fixed/integer_scalar.hpp"
#include "formats/format.hpp"

namespace mase::formats {

/// Fake quantization; `in` and `out` have the same size and may be the same memory.
void quantize_integer(const IntegerSpec& spec, std::span<const float> in, std::span<float> out);

/// Codes of all elements. Error(Fault::file) naming the index of the first NaN.
Encoded encode_integer(const IntegerSpec& spec, std::span<const float> in);

/// Error(Fault::file) when the codes' number or width is not that of the format and of `out`.
void decode_integer(const IntegerSpec& spec, const Encoded& in, std::span<float> out);

/// The codes of elements `first` and up of the tensor `in`, sign-extended; Error(Fault::file)
/// naming the index of a NaN. No stochastic rounding.
void integer_codes(const IntegerSpec& spec, std::span<const float> in, std::size_t first,
                   std::span<std::uint32_t> codes);

/// The values of codes without bits above the format's width.
void integer_values(const IntegerSpec& spec, std::span<const std::uint32_t> codes,
                    std::span<float> out);

/// What the scale of a grid is called in TorchScript: numbers, or names of tensors.
struct ScriptScale {
  std::string scale;      ///< 2^frac_width
  std::string step;       ///< 2^-frac_width
  std::string half_step;  ///< 2^-frac_width / 2
  bool below_one;         ///< whether some scale is below 1
};

/// The expression in TorchScript of the values of `x` on the grid of `spec`, but with this scale.
std::string integer_script(const IntegerSpec& spec, const ScriptScale& scale);

/// TorchScript body (Format::torchscript) that gives the bits of `quantize_integer`.
/// Error(Fault::unsupported) for stochastic rounding.
std::string integer_torchscript(const IntegerSpec& spec);

}  // namespace mase::formats
