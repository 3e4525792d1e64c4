// SPDX-License-Identifier: Apache-2.0
// The formats `integer` and `integer_floor`: fixed point, saturating (formats.md, section 2).
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "formats/common.hpp"
#include "formats/definition.hpp"
#include "formats/fixed/channel_fractions.hpp"
#include "formats/fixed/integer_spans.hpp"

namespace mase::formats {

/// The functions of the integer formats, in terms of the Derived format's `spec()` and channels.
template <class Derived>
struct IntegerFunctions : Defined<Derived> {
  bool per_channel() const override { return this->self().by_channel(); }
  double bits_per_element(const Shape& shape) const override {
    return spec().width + this->self().channel_bits(shape);
  }
  /// With several grids, the range of the widest one.
  Range range() const override {
    IntegerSpec widest = spec();
    if (has_grids()) widest.frac_width = std::ranges::min(this->self().channel_frac_width);
    return {widest.low() * widest.step(), widest.high() * widest.step()};
  }
  void check(const Shape& shape) const override { this->self().check_channel_shape(shape); }
  void quantize(std::span<const float> in, std::span<float> out, const Shape&) const override {
    has_grids() ? quantize_channels(grids(), in, out) : quantize_integer(spec(), in, out);
  }
  DeviceQuantizer device_quantizer(const Shape&) const override {
    return has_grids() ? nullptr : integer_on_device(spec());
  }
  Encoded encode(std::span<const float> in, const Shape&) const override {
    return has_grids() ? encode_channels(grids(), in) : encode_integer(spec(), in);
  }
  void decode(const Encoded& in, std::span<float> out, const Shape&) const override {
    has_grids() ? decode_channels(grids(), in, out) : decode_integer(spec(), in, out);
  }
  void saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                 const Shape& shape) const override {
    has_grids() ? channels_saturate(grids(), in, mask)
                : FormatDefinition::saturates(in, mask, shape);
  }
  std::int64_t rows_together(const Shape&) const override { return has_grids() ? 1 : 0; }
  std::shared_ptr<const FormatDefinition> of_rows(std::int64_t first,
                                                  std::int64_t count) const override {
    if (!has_grids()) return Defined<Derived>::of_rows(first, count);
    auto rows = std::make_shared<Derived>(this->self());
    const auto begin = this->self().channel_frac_width.begin() + first;
    rows->channel_frac_width.assign(begin, begin + count);
    return rows;
  }
  std::string torchscript(int rank) const override {
    return has_grids() ? channels_torchscript(grids(), rank) : integer_torchscript(spec());
  }
  std::optional<Decoding> decoding(const Shape&) const override {
    if (has_grids()) return std::nullopt;
    return Decoding{.bits = spec().width, .is_signed = spec().is_signed, .step = spec().step()};
  }

 private:
  IntegerSpec spec() const { return this->self().spec(); }
  bool has_grids() const { return !this->self().channel_frac_width.empty(); }
  ChannelGrid grids() const { return {spec(), this->self().channel_frac_width}; }
};

/// Codes c = clamp(rnd(x * 2^frac_width)), values c * 2^-frac_width.
template <class Derived>
struct IntegerFields : CommonFields, ChannelFields, IntegerFunctions<Derived> {
  int width = 8;
  std::optional<int> frac_width;
  bool is_signed = true;
  static constexpr std::string_view calibrated = "frac_width";

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"width", &IntegerFields::width, "bits of one code"}.between(1, 32),
            Field{"frac_width", &IntegerFields::frac_width,
                  "bits after the binary point; negative for steps above 1; NA: half of the width"}
                .between(-126, 126),
            Field{"is_signed", &IntegerFields::is_signed,
                  "two's complement codes, or codes from 0 up"}},
        common_fields(), channel_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override {
    if (!frac_width) frac_width = width / 2;
    check_common(given, true, diagnostics);
    check_channels(given, rounding_value(), diagnostics);
  }
  IntegerSpec spec() const {
    return {width,           frac_width.value_or(width / 2),
            is_signed,       rounding_value(),
            profile_value(), seed_value()};
  }
};

struct Integer : IntegerFields<Integer> {
  static constexpr FormatDoc doc{"integer", "Fixed point with saturation and a choice of rounding.",
                                 2};
};

/// Another name of `integer`. (In the reference system this name also covers the format of the
/// result. Here the port data_out has that format.)
struct Fixed : IntegerFields<Fixed> {
  static constexpr FormatDoc doc{"fixed", "The same as integer.", 2};
};

/// `integer` with rounding toward minus infinity, the default of hardware casts.
struct IntegerFloor : ProfileFields, ChannelFields, IntegerFunctions<IntegerFloor> {
  static constexpr FormatDoc doc{"integer_floor",
                                 "Fixed point with saturation, rounded toward minus infinity.", 2};
  int width = 8;
  std::optional<int> frac_width;
  bool is_signed = true;
  static constexpr std::string_view calibrated = "frac_width";

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"width", &IntegerFloor::width, "bits of one code"}.between(1, 32),
            Field{"frac_width", &IntegerFloor::frac_width,
                  "bits after the binary point; negative for steps above 1; NA: half of the width"}
                .between(-126, 126),
            Field{"is_signed", &IntegerFloor::is_signed,
                  "two's complement codes, or codes from 0 up"}},
        profile_fields(), channel_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  IntegerSpec spec() const;
};

}  // namespace mase::formats
