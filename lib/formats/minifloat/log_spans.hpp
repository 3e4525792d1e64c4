// SPDX-License-Identifier: Apache-2.0
// The format log over whole tensors: the fastest kernel where there is one, else the definition.
#pragma once

#include <span>
#include <string>

#include "formats/format.hpp"
#include "formats/minifloat/log_scalar.hpp"

namespace mase::formats {

/// Fake quantization; `in` and `out` have the same size and may be the same memory.
void quantize_log(const LogSpec& spec, std::span<const float> in, std::span<float> out);

/// Codes of all elements. Error(Fault::file) naming the index of the first NaN.
Encoded encode_log(const LogSpec& spec, std::span<const float> in);

/// Error(Fault::file) when the codes' number or width is not that of the format and of `out`.
/// A table, up to widest_element_table bits.
std::optional<Decoding> log_decoding(const LogSpec& spec);
void decode_log(const LogSpec& spec, const Encoded& in, std::span<float> out);

/// TorchScript body (Format::torchscript) that gives the bits of `quantize_log`.
/// Error(Fault::unsupported) for stochastic rounding.
std::string log_torchscript(const LogSpec& spec);

}  // namespace mase::formats
