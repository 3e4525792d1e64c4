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

/// TorchScript body (Format::torchscript) that gives the bits of `quantize_integer`.
/// Error(Fault::unsupported) for stochastic rounding.
std::string integer_torchscript(const IntegerSpec& spec);

}  // namespace mase::formats
