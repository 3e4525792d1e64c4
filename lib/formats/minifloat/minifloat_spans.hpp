// SPDX-License-Identifier: Apache-2.0
// Minifloats over whole tensors, by the fastest kernel or, without a kernel, the definition.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "formats/format.hpp"
#include "formats/minifloat/minifloat_scalar.hpp"

namespace mase::formats {

/// Fake quantization; `in` and `out` have the same size and may be the same memory.
void quantize_minifloat(const MinifloatSpec& spec, std::span<const float> in, std::span<float> out);

/// The same by a kernel for GPUs; null without one.
DeviceQuantizer minifloat_on_device(const MinifloatSpec& spec);

/// The codes of all elements; in profile `reference`, of the values nearest to its results. When
/// there is no code for NaN, Error(Fault::file) names `format` and the index of the first NaN.
Encoded encode_minifloat(const MinifloatSpec& spec, std::string_view format,
                         std::span<const float> in);

/// Decoding: a table. decode_minifloat throws Error(Fault::file) when the number or width of codes
/// does not fit the format and `out`.
Decoding minifloat_decoding(const MinifloatSpec& spec);
void decode_minifloat(const MinifloatSpec& spec, const Encoded& in, std::span<float> out);

/// The TorchScript body (Format::torchscript) that gives the bits of `quantize_minifloat`.
/// Error(Fault::unsupported) for stochastic rounding.
std::string minifloat_torchscript(const MinifloatSpec& spec);

}  // namespace mase::formats
