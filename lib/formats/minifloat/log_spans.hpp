// SPDX-License-Identifier: Apache-2.0
// The format log over whole tensors, by the fastest kernel or, without a kernel, the definition.
#pragma once

#include <span>
#include <string>

#include "formats/format.hpp"
#include "formats/minifloat/log_scalar.hpp"

namespace mase::formats {

/// Fake quantization; `in` and `out` have the same size and may be the same memory.
void quantize_log(const LogSpec& spec, std::span<const float> in, std::span<float> out);

/// The same by a kernel for GPUs; null without one.
DeviceQuantizer log_on_device(const LogSpec& spec);

/// The codes of all elements. Error(Fault::file) names the index of the first NaN.
Encoded encode_log(const LogSpec& spec, std::span<const float> in);

/// Decoding: a table for up to widest_element_table bits, otherwise nullopt. decode_log throws
/// Error(Fault::file) when the number or width of codes does not fit the format and `out`.
std::optional<Decoding> log_decoding(const LogSpec& spec);
void decode_log(const LogSpec& spec, const Encoded& in, std::span<float> out);

/// The TorchScript body (Format::torchscript) that gives the bits of `quantize_log`.
/// Error(Fault::unsupported) for stochastic rounding.
std::string log_torchscript(const LogSpec& spec);

}  // namespace mase::formats
