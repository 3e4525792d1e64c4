// Pieces of TorchScript text that the element formats share.
#pragma once

#include <cstdint>
#include <string>

#include "formats/rounding.hpp"

namespace mase::formats {

/// A number as TorchScript reads it, infinities included.
std::string script_number(double value);

/// Error(Fault::unsupported) for stochastic rounding, which no text reproduces.
void refuse_stochastic_script(Rounding rounding);

/// Lines that set `e` and `p` for the float32 expression `v` of profile mase: e = E - low' and
/// p = 2^E in float32, with E = round(RN32(log2 v)) clamped to [low, high]; where low' differs from
/// low, e is 0 for no v, and powers beyond float32 are the same 0 or infinity.
std::string mase_power_lines(const std::string& v, float (*round)(float), std::int64_t low,
                             std::int64_t high);

}  // namespace mase::formats
