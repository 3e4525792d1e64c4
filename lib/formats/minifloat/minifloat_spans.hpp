// SPDX-License-Identifier: Apache-2.0
// Minifloats over whole tensors: the fastest kernel where there is one, else the definition.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "formats/format.hpp"
#include "formats/minifloat/minifloat_scalar.hpp"

namespace mase::formats {

/// Fake quantization; `in` and `out` have the same size and may be the same memory.
void quantize_minifloat(const MinifloatSpec& spec, std::span<const float> in, std::span<float> out);

/// Codes of all elements, in profile `reference` those of the values nearest to its results. Where
/// there is no code for NaN, Error(Fault::file) naming `format` and the index of the first one.
Encoded encode_minifloat(const MinifloatSpec& spec, std::string_view format,
                         std::span<const float> in);

/// Error(Fault::file) when the codes' number or width is not that of the format and of `out`.
/// A table.
Decoding minifloat_decoding(const MinifloatSpec& spec);
void decode_minifloat(const MinifloatSpec& spec, const Encoded& in, std::span<float> out);

/// TorchScript body (Format::torchscript) that gives the bits of `quantize_minifloat`.
/// Error(Fault::unsupported) for stochastic rounding.
std::string minifloat_torchscript(const MinifloatSpec& spec);

}  // namespace mase::formats
