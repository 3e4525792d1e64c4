// SPDX-License-Identifier: Apache-2.0
// The format `log`: signed powers of two (formats.md, section 2).
#pragma once

#include <optional>

#include "formats/common.hpp"
#include "formats/definition.hpp"
#include "formats/minifloat/log_spans.hpp"

namespace mase::formats {

/// Values +-2^(c - exponent_bias) for exponent codes c, and 0.
struct LogFormat : CommonFields, Defined<LogFormat> {
  static constexpr FormatDoc doc{"log", "Powers of two: a sign and an exponent, no fraction.", 2};
  int width = 8;
  std::optional<int> exponent_bias;
  bool zero = true;
  static constexpr std::string_view calibrated = "exponent_bias";

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"width", &LogFormat::width, "bits of one code"}.between(2, 32),
                   Field{"exponent_bias", &LogFormat::exponent_bias,
                         "exponent code minus exponent; NA: 2^(width-2) - 1"}
                       .between(-1000, 1 << 30),
                   Field{"zero", &LogFormat::zero,
                         "exponent code 0 means the number 0; otherwise there is no 0"}},
        common_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  LogSpec spec() const;

  double bits_per_element(const Shape&) const override { return width; }
  Range range() const override;
  void quantize(std::span<const float> in, std::span<float> out, const Shape&) const override {
    quantize_log(spec(), in, out);
  }
  DeviceQuantizer device_quantizer(const Shape&) const override { return log_on_device(spec()); }
  Encoded encode(std::span<const float> in, const Shape&) const override {
    return encode_log(spec(), in);
  }
  void decode(const Encoded& in, std::span<float> out, const Shape&) const override {
    decode_log(spec(), in, out);
  }
  std::int64_t rows_together(const Shape&) const override { return 0; }
  std::string torchscript(int) const override { return log_torchscript(spec()); }
  std::optional<Decoding> decoding(const Shape&) const override { return log_decoding(spec()); }
};

}  // namespace mase::formats
