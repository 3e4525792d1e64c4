// SPDX-License-Identifier: Apache-2.0
// The format `binary`: two values, perhaps times the mean magnitude (formats.md, section 2).
#pragma once

#include <optional>
#include <string>

#include "formats/common.hpp"
#include "formats/definition.hpp"
#include "formats/low_bit/binary_scalar.hpp"

namespace mase::formats {

/// +-1 by sign, or 1 and 0. With `scaled` they are multiplied by alpha, the mean |x| of each index
/// of dimension 0 (of the whole tensor at rank 1), over the finite elements: NaN stays NaN and does
/// not affect others, +-inf becomes +-alpha. Nothing saturates when alpha comes from the data.
/// bipolar is the default because binary weights of networks mean +-1; the specification names no
/// default.
struct Binary : ProfileFields, Defined<Binary> {
  static constexpr FormatDoc doc{"binary", "Two values: signs, or 0 and 1, perhaps scaled.", 0};
  int width = 1;
  bool bipolar = true;
  std::optional<bool> scaled;
  bool stochastic = false;
  std::int64_t seed = 0;
  std::uint64_t first_number = 0;  ///< no field: where the tensor's random numbers begin

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"width", &Binary::width, "for information only: a code has one bit"}.between(1,
                                                                                               32),
            Field{"bipolar", &Binary::bipolar, "-1 and 1 instead of 0 and 1"},
            Field{"scaled", &Binary::scaled,
                  "multiply by the mean magnitude per index of dimension 0; NA: if not bipolar"},
            Field{"stochastic", &Binary::stochastic,
                  "the upper value with probability (x + 1) / 2"}},
        profile_fields(),
        std::tuple{Field{"seed", &Binary::seed, "key of stochastic signs"}.at_least(0)});
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  BinarySpec spec() const;

  double bits_per_element(const Shape& shape) const override;
  Range range() const override { return {bipolar ? -1.0 : 0.0, 1.0}; }  ///< in units of alpha
  void check(const Shape& shape) const override;
  void quantize(std::span<const float> in, std::span<float> out, const Shape& shape) const override;
  DeviceQuantizer device_quantizer(const Shape& shape) const override;
  Encoded encode(std::span<const float> in, const Shape& shape) const override;
  void decode(const Encoded& in, std::span<float> out, const Shape& shape) const override;
  void saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                 const Shape& shape) const override;
  std::int64_t rows_together(const Shape& shape) const override;
  std::string torchscript(int rank) const override;
  std::optional<Decoding> decoding(const Shape& shape) const override;
};

}  // namespace mase::formats
