// SPDX-License-Identifier: Apache-2.0
// The minifloat formats: sign, exponent and fraction of a few bits, with a hidden bit or without
// (formats.md, section 2), and the ones of OCP by name.
#pragma once

#include <optional>
#include <string>

#include "formats/common.hpp"
#include "formats/definition.hpp"
#include "formats/minifloat/minifloat_element.hpp"
#include "formats/minifloat/minifloat_spans.hpp"

namespace mase::formats {

/// The functions of all minifloat formats, in terms of the Derived format's `spec()`.
template <class Derived>
struct MinifloatFunctions : Defined<Derived> {
  double bits_per_element(const Shape&) const override { return spec().width; }
  Range range() const override { return {-spec().largest(), spec().largest()}; }
  void quantize(std::span<const float> in, std::span<float> out, const Shape&) const override {
    quantize_minifloat(spec(), in, out);
  }
  DeviceQuantizer device_quantizer(const Shape&) const override {
    return minifloat_on_device(spec());
  }
  Encoded encode(std::span<const float> in, const Shape&) const override {
    return encode_minifloat(spec(), Derived::doc.name, in);
  }
  void decode(const Encoded& in, std::span<float> out, const Shape&) const override {
    decode_minifloat(spec(), in, out);
  }
  std::int64_t rows_together(const Shape&) const override { return 0; }
  std::string torchscript(int) const override { return minifloat_torchscript(spec()); }
  std::optional<Decoding> decoding(const Shape&) const override {
    return minifloat_decoding(spec());
  }

 private:
  MinifloatSpec spec() const { return this->self().spec(); }
};

/// Values with a hidden bit: +-2^(c - bias) * (1 + M / 2^m), and subnormals for c = 0.
struct MinifloatIeee : CommonFields, MinifloatFunctions<MinifloatIeee> {
  static constexpr FormatDoc doc{
      "minifloat_ieee", "Floating point of a few bits with hidden bit and subnormals, as IEEE 754.",
      3};
  int width = 8;
  int exponent_width = 4;
  std::optional<int> exponent_bias;
  std::string inf_nan = "none";
  bool saturate = true;
  std::optional<std::string> element;
  static constexpr std::string_view calibrated = "exponent_bias";

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"width", &MinifloatIeee::width, "bits of one code"}.between(2, 16),
            Field{"exponent_width", &MinifloatIeee::exponent_width, "bits of the exponent"}.between(
                1, 8),
            Field{"exponent_bias", &MinifloatIeee::exponent_bias,
                  "exponent code minus exponent; NA: 2^(exponent_width-1) - 1"}
                .between(-300, 300),
            Field{
                "inf_nan", &MinifloatIeee::inf_nan,
                "codes of the top exponent that are not numbers: none, infinity and NaN as in IEEE "
                "754, or one NaN"}
                .one_of("none", "ieee", "fn"),
            Field{"saturate", &MinifloatIeee::saturate,
                  "values too large become the largest instead of infinity or NaN"},
            Field{"element", &MinifloatIeee::element,
                  "a standard's name that sets width, exponent_width, exponent_bias and inf_nan"}
                .one_of("e5m2", "e4m3fn", "e3m2", "e2m3", "e2m1", "e4m3", "e3m4", "float16",
                        "bfloat16")},
        common_fields());
  }
  /// Resolves `element` into the fields that it stands for.
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  MinifloatSpec spec() const;

 private:
  void apply_element(const Tree& given, Diagnostics& diagnostics);
  void check_specials(const Tree& given, Diagnostics& diagnostics) const;
};

/// Values without a hidden bit: +-2^(c - bias) * M / 2^m.
struct MinifloatDenorm : CommonFields, MinifloatFunctions<MinifloatDenorm> {
  static constexpr FormatDoc doc{"minifloat_denorm",
                                 "Floating point of a few bits without a hidden bit.", 3};
  int width = 8;
  int exponent_width = 4;
  std::optional<int> exponent_bias;
  static constexpr std::string_view calibrated = "exponent_bias";

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"width", &MinifloatDenorm::width, "bits of one code"}.between(3, 16),
                   Field{"exponent_width", &MinifloatDenorm::exponent_width, "bits of the exponent"}
                       .between(1, 8),
                   Field{"exponent_bias", &MinifloatDenorm::exponent_bias,
                         "exponent code minus exponent; NA: 2^(exponent_width-1) - 1"}
                       .between(-300, 300)},
        common_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  MinifloatSpec spec() const;
};

/// A minifloat of a standard as a separate format; the Derived format names its `element`.
template <class Derived>
struct NamedMinifloat : CommonFields, MinifloatFunctions<Derived> {
  bool saturate = true;

  static constexpr auto fields() {
    const auto [rounding, profile, ste, seed] = common_fields();
    return std::tuple{Field{"saturate", &NamedMinifloat::saturate,
                            "values too large become the largest instead of infinity or NaN"},
                      rounding, ste, seed};
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override {
    check_common(given, false, diagnostics);
  }
  MinifloatSpec spec() const {
    MinifloatSpec spec = find_element(Derived::element).spec();
    spec.saturate = saturate;
    spec.rounding = rounding_value();
    spec.seed = seed_value();
    return spec;
  }
};

struct Fp8E4m3 : NamedMinifloat<Fp8E4m3> {
  static constexpr FormatDoc doc{"fp8_e4m3", "OCP FP8 E4M3: up to 448, NaN, no infinity."};
  static constexpr std::string_view element = "e4m3fn";
};
struct Fp8E5m2 : NamedMinifloat<Fp8E5m2> {
  static constexpr FormatDoc doc{"fp8_e5m2", "OCP FP8 E5M2: up to 57344, NaN and infinity."};
  static constexpr std::string_view element = "e5m2";
};
struct Fp6E3m2 : NamedMinifloat<Fp6E3m2> {
  static constexpr FormatDoc doc{"fp6_e3m2", "OCP FP6 E3M2: up to 28, numbers only."};
  static constexpr std::string_view element = "e3m2";
};
struct Fp6E2m3 : NamedMinifloat<Fp6E2m3> {
  static constexpr FormatDoc doc{"fp6_e2m3", "OCP FP6 E2M3: up to 7.5, numbers only."};
  static constexpr std::string_view element = "e2m3";
};
struct Fp4E2m1 : NamedMinifloat<Fp4E2m1> {
  static constexpr FormatDoc doc{"fp4_e2m1", "OCP FP4 E2M1: up to 6, numbers only."};
  static constexpr std::string_view element = "e2m1";
};

}  // namespace mase::formats
