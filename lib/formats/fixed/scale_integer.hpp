// SPDX-License-Identifier: Apache-2.0
// The format `scale_integer`: integers with a float32 step per row (formats.md, section 2).
#pragma once

#include <string>
#include <vector>

#include "formats/common.hpp"
#include "formats/definition.hpp"
#include "formats/fixed/scale_integer_scalar.hpp"
#include "formats/slices.hpp"

namespace mase::formats {

/// Codes c = clamp(rnd(x / Delta)), values RN32(c * Delta). With `channel_step` the steps Delta are
/// given: one for each channel, a slice of dimension 0, or one for all. Codes are all of two's
/// complement then. Otherwise each row of the last dimension has a
/// Delta that puts the row's largest finite magnitude on the largest code. Only +-inf saturates
/// (and negative numbers when unsigned). The stored scales are Delta; in profile `reference` they
/// are its inverse, the factor before rounding.
struct ScaleInteger : CommonFields, Defined<ScaleInteger> {
  static constexpr FormatDoc doc{"scale_integer", "Integers with a float32 step for each row.", 1};
  int width = 8;
  bool is_signed = true;
  std::vector<double> channel_step;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"width", &ScaleInteger::width, "bits of one code"}.between(1, 32),
            Field{"is_signed", &ScaleInteger::is_signed,
                  "two's complement codes, or codes from 0 up"},
            Field{
                "channel_step", &ScaleInteger::channel_step,
                "the step of every channel (index of dimension 0), or one for all; empty: of each "
                "row, by its largest number"}
                .between(0x1p-149, 0x1p95)
                .rare()},
        common_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  ScaleIntegerSpec spec() const;
  void check(const Shape& shape) const override;

  double bits_per_element(const Shape& shape) const override;
  Range range() const override { return {spec().low(), spec().high()}; }  ///< in units of Delta
  void quantize(std::span<const float> in, std::span<float> out, const Shape& shape) const override;
  Encoded encode(std::span<const float> in, const Shape& shape) const override;
  void decode(const Encoded& in, std::span<float> out, const Shape& shape) const override;
  void saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                 const Shape& shape) const override;
  std::int64_t rows_together(const Shape& shape) const override;
  std::shared_ptr<const FormatDefinition> of_rows(std::int64_t first,
                                                  std::int64_t count) const override;
  std::string torchscript(int rank) const override;
  std::optional<Decoding> decoding(const Shape& shape) const override;

 private:
  /// What shares a step.
  Slices slices(const Shape& shape) const;
  /// The step of a slice.
  float step_of(std::size_t slice, std::span<const float> values) const;
  std::string given_steps(int rank) const;
};

}  // namespace mase::formats
