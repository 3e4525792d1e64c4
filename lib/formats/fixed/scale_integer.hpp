// SPDX-License-Identifier: Apache-2.0
// The format `scale_integer`: integers with a float32 step per row (formats.md, section 2).
#pragma once

#include <string>

#include "formats/common.hpp"
#include "formats/definition.hpp"
#include "formats/fixed/scale_integer_scalar.hpp"

namespace mase::formats {

/// Codes c = clamp(rnd(x / Delta)), values RN32(c * Delta). Each row of the last dimension has a
/// Delta that puts the row's largest finite magnitude on the largest code. Only +-inf saturates
/// (and negative numbers when unsigned). The stored scales are Delta; in profile `reference` they
/// are its inverse, the factor before rounding.
struct ScaleInteger : CommonFields, Defined<ScaleInteger> {
  static constexpr FormatDoc doc{"scale_integer", "Integers with a float32 step for each row.", 1};
  int width = 8;
  bool is_signed = true;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"width", &ScaleInteger::width, "bits of one code"}.between(1, 32),
                   Field{"is_signed", &ScaleInteger::is_signed,
                         "two's complement codes, or codes from 0 up"}},
        common_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  ScaleIntegerSpec spec() const;

  double bits_per_element(const Shape& shape) const override;
  Range range() const override { return {spec().low(), spec().high()}; }  ///< in units of Delta
  void quantize(std::span<const float> in, std::span<float> out, const Shape& shape) const override;
  Encoded encode(std::span<const float> in, const Shape& shape) const override;
  void decode(const Encoded& in, std::span<float> out, const Shape& shape) const override;
  void saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                 const Shape& shape) const override;
  std::string torchscript(int rank) const override;
  std::optional<Decoding> decoding(const Shape& shape) const override;
};

}  // namespace mase::formats
