// SPDX-License-Identifier: Apache-2.0
// The formats `integer` and `integer_floor`: fixed point, saturating (formats.md, section 2).
#pragma once

#include <optional>
#include <string>

#include "formats/common.hpp"
#include "formats/definition.hpp"
#include "formats/fixed/integer_spans.hpp"

namespace mase::formats {

/// What both integer formats do, in terms of the Derived format's `spec()`.
template <class Derived>
struct IntegerFunctions : Defined<Derived> {
  double bits_per_element(const Shape&) const override { return spec().width; }
  Range range() const override {
    return {spec().low() * spec().step(), spec().high() * spec().step()};
  }
  void quantize(std::span<const float> in, std::span<float> out, const Shape&) const override {
    quantize_integer(spec(), in, out);
  }
  Encoded encode(std::span<const float> in, const Shape&) const override {
    return encode_integer(spec(), in);
  }
  void decode(const Encoded& in, std::span<float> out, const Shape&) const override {
    decode_integer(spec(), in, out);
  }
  std::string torchscript(int) const override { return integer_torchscript(spec()); }

 private:
  IntegerSpec spec() const { return this->self().spec(); }
};

/// Codes c = clamp(rnd(x * 2^frac_width)), values c * 2^-frac_width.
template <class Derived>
struct IntegerFields : CommonFields, IntegerFunctions<Derived> {
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
            Field{"is_signed", &IntegerFields::is_signed, "two's complement, or values from 0 up"}},
        common_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override {
    if (!frac_width) frac_width = width / 2;
    check_common(given, true, diagnostics);
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

/// `integer` by its other name. (The reference system's format of that name adds the format of the
/// result, which is the one of the port data_out.)
struct Fixed : IntegerFields<Fixed> {
  static constexpr FormatDoc doc{"fixed", "The same as integer.", 2};
};

/// `integer` with rounding toward minus infinity, the default of hardware casts.
struct IntegerFloor : ProfileFields, IntegerFunctions<IntegerFloor> {
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
            Field{"is_signed", &IntegerFloor::is_signed, "two's complement, or values from 0 up"}},
        profile_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  IntegerSpec spec() const;
};

}  // namespace mase::formats
