// SPDX-License-Identifier: Apache-2.0
// Pieces of TorchScript text that the element formats share. They only use operators with one exact
// result: no logarithm, no power, and no reinterpreted bits (which TorchScript lacks).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/rounding.hpp"

namespace mase::formats {

/// A number as TorchScript reads it, including infinities.
std::string script_number(double value);

/// A tensor on x's device; `dtype` is "float32" or "float64". TorchScript reads such lists as
/// float32, so other values are rounded to float32. The values must ascend when some are 2^33 or
/// more.
std::string script_tensor(const std::vector<double>& values, const std::string& dtype);

/// The tensor `values` divided by a number. Devices other than the CPU multiply by the reciprocal
/// of a number, which is the quotient for powers of two only, so this divides by a tensor.
std::string script_quotient(const std::string& values, double divisor);

/// Error(Fault::unsupported) for stochastic rounding, which no text can reproduce.
void refuse_stochastic_script(Rounding rounding);

/// Lines that set `d` to x in float64 and `e` to the exponent of |d|, plus one when the condition
/// `rounds_up` on d and its significand `f` in [1/2, 1) holds, clamped to [from, to], minus `from`.
std::string exponent_lines(int from, int to, const std::string& rounds_up = {});

/// Lines that set `e` and `p` for the float32 expression `v` of profile reference: e = E - low' and
/// p = 2^E in float32, with E = round(RN32(log2 v)) clamped to [low, high]. When low' differs from
/// low, e is not 0 for any v, and powers beyond float32 are the same 0 or infinity.
std::string reference_power_lines(const std::string& v, float (*round)(float), std::int64_t low,
                                  std::int64_t high);

}  // namespace mase::formats
