// What encoding and decoding have in common in all formats: refusals, and checks of stored codes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/codes.hpp"

namespace mase::formats {

/// Error(Fault::file): element `index` is NaN and the format, "integer", has no code for it.
[[noreturn]] void refuse_nan(std::size_t index, std::string_view format);

/// The codes of a tensor; Error(Fault::file) when width or number are not what the format and the
/// tensor's shape ask for.
std::vector<std::uint32_t> codes_of(const PackedCodes& codes, int bits, std::size_t count);

}  // namespace mase::formats
