// SPDX-License-Identifier: Apache-2.0
// The format `ternary`: -1, 0 and 1, perhaps times a mean magnitude (formats.md, section 2).
#pragma once

#include <optional>
#include <string>

#include "formats/common.hpp"
#include "formats/definition.hpp"
#include "formats/low_bit/ternary_scalar.hpp"

namespace mase::formats {

/// 1 above a threshold, -1 below its negative, otherwise 0. With `scaling_factor` they are times
/// alpha, the mean of the |x| above the threshold for each index of dimension 0 (of the whole
/// tensor at rank 1), over the finite elements: NaN stays NaN and does not affect others, +-inf
/// becomes +-alpha. Nothing saturates when alpha comes from the data.
/// Profile `reference` ignores threshold, mean, max and median, as the reference system does.
struct Ternary : ProfileFields, Defined<Ternary> {
  static constexpr FormatDoc doc{"ternary", "The values -1, 0 and 1, perhaps scaled.", 0};
  int width = 2;
  bool scaling_factor = false;
  std::optional<double> threshold, mean, max, median;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"width", &Ternary::width, "for information only: a code has two bits"}.between(
                1, 32),
            Field{"scaling_factor", &Ternary::scaling_factor,
                  "multiply by the mean magnitude above the threshold, per index of dimension 0"},
            Field{"threshold", &Ternary::threshold,
                  "NA: 0.75 mean, 0.05 max or 0.75 median, whichever is given first; otherwise "
                  "0.75 of "
                  "the mean magnitude per index of dimension 0"}
                .between(0, 3e38),
            Field{"mean", &Ternary::mean, "mean magnitude from statistics"}.between(0, 3e38),
            Field{"max", &Ternary::max, "largest magnitude from statistics"}.between(0, 3e38),
            Field{"median", &Ternary::median, "median magnitude from statistics"}.between(0, 3e38)},
        profile_fields());
  }
  void resolve(const Tree&, Diagnostics&) override {}
  TernarySpec spec() const;

  double bits_per_element(const Shape& shape) const override;
  Range range() const override { return {-1.0, 1.0}; }  ///< in units of alpha
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
