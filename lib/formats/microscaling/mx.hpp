// SPDX-License-Identifier: Apache-2.0
// The microscaling formats: blocks of integers or minifloats that share a power of two
// (OCP Microscaling Formats 1.0; formats.md, section 3).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/common.hpp"
#include "formats/definition.hpp"
#include "formats/microscaling/mx_spans.hpp"

namespace mase::formats {

/// The formats' functions, in terms of the Derived format's `spec()` and `blocks(shape)`.
template <class Derived>
struct MxFunctions : Defined<Derived> {
  static constexpr std::string_view calibrated = "scale_rule";

  void check(const Shape& shape) const override { static_cast<void>(self().blocks(shape)); }
  double bits_per_element(const Shape& shape) const override {
    return mx_bits(spec(), self().blocks(shape));
  }
  /// The range under the largest scale.
  Range range() const override { return mx_range(spec()); }
  void quantize(std::span<const float> in, std::span<float> out,
                const Shape& shape) const override {
    quantize_mx(spec(), self().blocks(shape), in, out);
  }
  DeviceQuantizer device_quantizer(const Shape& shape) const override {
    return mx_on_device(spec(), self().blocks(shape));
  }
  Encoded encode(std::span<const float> in, const Shape& shape) const override {
    return encode_mx(spec(), self().blocks(shape), in, Derived::doc.name);
  }
  void decode(const Encoded& in, std::span<float> out, const Shape& shape) const override {
    decode_mx(spec(), self().blocks(shape), in, out);
  }
  std::int64_t rows_together(const Shape& shape) const override {
    if (shape.empty() || spec().profile == Profile::reference)
      return FormatDefinition::rows_together(shape);
    return self().blocks(shape).tiling.rows_together(shape.front());
  }
  std::optional<Decoding> decoding(const Shape& shape) const override {
    return mx_decoding(spec(), self().blocks(shape));
  }
  void saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                 const Shape& shape) const override {
    saturates_mx(spec(), self().blocks(shape), in, mask);
  }

 private:
  using Defined<Derived>::self;
  MxSpec spec() const { return self().spec(); }
};

/// The fields of formats whose blocks are stretches of one dimension.
struct MxLineFields : CommonFields {
  int block_size = 32;
  int block_dim = -1;
  int scale_bits = 8;
  std::optional<int> exponent_min, exponent_max;
  std::string scale_rule = "floor";

  static constexpr auto line_fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"block_size", &MxLineFields::block_size,
                  "elements that share a scale; the last block of a line may be short"}
                .at_least(1),
            Field{"block_dim", &MxLineFields::block_dim,
                  "dimension along which blocks lie; negative: from the end"},
            Field{"scale_bits", &MxLineFields::scale_bits, "bits of the shared exponent"}.between(
                2, 8),
            Field{"exponent_min", &MxLineFields::exponent_min,
                  "the lowest shared exponent, which smaller blocks get; NA: that of scale_bits"}
                .between(-127, 127),
            Field{"exponent_max", &MxLineFields::exponent_max,
                  "the highest shared exponent, with which larger blocks saturate; NA: that of "
                  "scale_bits"}
                .between(-127, 127),
            scale_rule_field(&MxLineFields::scale_rule)},
        common_fields());
  }
  MxSpec line_spec() const;  ///< the spec without its element
  MxBlocks blocks(const Shape& shape) const;
  std::string line_torchscript(const MxSpec& spec, int rank) const;
  /// Reports combinations that do not exist, for integer elements or, with `floats`, for floats.
  void check_line(const Tree& given, bool floats, Diagnostics& diagnostics) const;

 private:
  void check_exponents(const Tree& given, Diagnostics& diagnostics) const;
};

/// Gives `spec` the float element with these widths, a pair that mxfp has.
void set_mx_element(MxSpec& spec, int exponent_width, int frac_width);

/// MXINT: two's complement elements M * 2^(X - width + 2), |M| < 2^(width-1).
struct MxInt : MxLineFields, MxFunctions<MxInt> {
  static constexpr FormatDoc doc{
      "mxint", "Microscaling integers: blocks of integers share a power of two.", 1};
  int width = 8;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"width", &MxInt::width, "bits of one element"}.between(2, 16)},
        line_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override {
    check_line(given, false, diagnostics);
  }
  MxSpec spec() const;
  std::string torchscript(int rank) const override { return line_torchscript(spec(), rank); }
};

/// MXFP: minifloat elements, by the widths of their fields or by `element`.
struct MxFp : MxLineFields, MxFunctions<MxFp> {
  static constexpr FormatDoc doc{
      "mxfp", "Microscaling floats: blocks of small floats share a power of two.", 2};
  std::optional<int> exponent_width, frac_width;
  std::optional<std::string> element;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"exponent_width", &MxFp::exponent_width,
                  "exponent bits of an element; with frac_width (4, 3), (5, 2), (3, 2), (2, 3), "
                  "(2, 1) or (1, 2); NA: 4"}
                .between(1, 5),
            Field{"frac_width", &MxFp::frac_width, "fraction bits of an element; NA: 3"}.between(1,
                                                                                                 3),
            Field{"element", &MxFp::element, "the element by name, in place of the two widths"}
                .one_of("e4m3fn", "e5m2", "e3m2", "e2m3", "e2m1")},
        line_fields());
  }
  /// Fills in the widths and clears `element`, so that equal formats have equal texts.
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  MxSpec spec() const;
  std::string torchscript(int rank) const override { return line_torchscript(spec(), rank); }
};

/// Integers as in `mxint`, in tiles over the last two dimensions, with a scale of few bits.
struct MxIntHardware : CommonFields, MxFunctions<MxIntHardware> {
  static constexpr FormatDoc doc{
      "mxint_hardware",
      "Tiles of integers that share a power of two, as streamed hardware has them.", 3};
  int width = 8;
  int exponent_width = 8;
  std::vector<int> parallelism{1, 16};
  std::string scale_rule = "floor";

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"width", &MxIntHardware::width, "bits of one element"}.between(2, 16),
            Field{"exponent_width", &MxIntHardware::exponent_width, "bits of the shared exponent"}
                .between(1, 8),
            Field{"parallelism", &MxIntHardware::parallelism,
                  "rows and columns of a tile over the last two dimensions, which they "
                  "divide; one number: columns"}
                .at_least(1),
            scale_rule_field(&MxIntHardware::scale_rule)},
        common_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  MxSpec spec() const;
  MxBlocks blocks(const Shape& shape) const;
  std::string torchscript(int rank) const override;
};

/// The element that a named format fixes.
struct MxName {
  FormatDoc doc;
  int width = 8;
  int exponent_width = 0;  ///< of a float element; 0 for an integer
};

inline constexpr MxName mxint8{{"mxint8", "OCP MXINT8: mxint of width 8."}, 8};
inline constexpr MxName mxint4{{"mxint4", "Microscaling integers: mxint of width 4."}, 4};
inline constexpr MxName mxint2{{"mxint2", "Microscaling integers: mxint of width 2."}, 2};
inline constexpr MxName mxfp8_e4m3{{"mxfp8_e4m3", "OCP MXFP8 with elements e4m3fn."}, 8, 4};
inline constexpr MxName mxfp8_e5m2{{"mxfp8_e5m2", "OCP MXFP8 with elements e5m2."}, 8, 5};
inline constexpr MxName mxfp6_e3m2{{"mxfp6_e3m2", "OCP MXFP6 with elements e3m2."}, 6, 3};
inline constexpr MxName mxfp6_e2m3{{"mxfp6_e2m3", "OCP MXFP6 with elements e2m3."}, 6, 2};
inline constexpr MxName mxfp4{{"mxfp4", "OCP MXFP4 with elements e2m1."}, 4, 2};

/// `mxint` or `mxfp` with a fixed element.
template <const MxName& name>
struct MxNamed : MxLineFields, MxFunctions<MxNamed<name>> {
  static constexpr FormatDoc doc = name.doc;

  static constexpr auto fields() { return line_fields(); }
  void resolve(const Tree& given, Diagnostics& diagnostics) override {
    check_line(given, name.exponent_width > 0, diagnostics);
  }
  MxSpec spec() const;
  std::string torchscript(int rank) const override { return line_torchscript(spec(), rank); }
};

template <const MxName& name>
MxSpec MxNamed<name>::spec() const {
  MxSpec spec = line_spec();
  if (name.exponent_width > 0)
    set_mx_element(spec, name.exponent_width, name.width - name.exponent_width - 1);
  else
    spec.width = name.width;
  return spec;
}

}  // namespace mase::formats
