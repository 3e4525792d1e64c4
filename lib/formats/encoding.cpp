// SPDX-License-Identifier: Apache-2.0
// Refusals and checks of encoded tensors.
#include "formats/encoding.hpp"

#include <string>

#include "base/error.hpp"

namespace mase::formats {

void refuse_nan(std::size_t index, std::string_view format) {
  file_error("element " + std::to_string(index) + " is NaN, which has no " + std::string(format) +
             " code; repair the tensor or leave it in float");
}

void check_codes(const PackedCodes& codes, int bits, std::size_t count) {
  if (codes.empty() && count == 0) return;
  if (codes.bits() != bits)
    file_error("codes of " + std::to_string(codes.bits()) + " bits for a format of width " +
               std::to_string(bits));
  if (codes.size() != count)
    file_error(std::to_string(codes.size()) + " codes for a tensor of " + std::to_string(count) +
               " elements");
}

void check_scale_count(std::span<const float> scales, std::size_t count) {
  if (scales.size() != count)
    file_error(std::to_string(scales.size()) + " scales for a tensor and format that need " +
               std::to_string(count));
}

std::vector<std::uint32_t> codes_of(const PackedCodes& codes, int bits, std::size_t count) {
  check_codes(codes, bits, count);
  return codes.unpack();
}

}  // namespace mase::formats
