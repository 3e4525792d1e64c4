// SPDX-License-Identifier: Apache-2.0
// Resolves and checks the parameters of the minifloat formats.
#include "formats/minifloat/minifloat.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace mase::formats {
namespace {

constexpr std::array<std::string_view, 3> specials_names{"none", "ieee", "fn"};

std::string_view name_of(Specials specials) {
  return specials_names[static_cast<std::size_t>(specials)];
}

Specials specials_of(std::string_view name) {
  const auto found = std::find(specials_names.begin(), specials_names.end(), name);
  MASE_CHECK(found != specials_names.end(), "inf_nan not checked by its field");
  return static_cast<Specials>(found - specials_names.begin());
}

int default_bias(int exponent_width) { return (1 << (exponent_width - 1)) - 1; }

// The place of the key, or of the `element` that has set it.
SourceLocation place_of_setting(const Tree& given, std::string_view key) {
  return given.find(key) ? place_of(given, key) : place_of(given, "element");
}

void check_fraction(const Tree& given, int width, int exponent_width, int least,
                    Diagnostics& diagnostics) {
  if (width - 1 - exponent_width >= least) return;
  const std::string bits = least == 1 ? "the sign and one fraction bit" : "the sign";
  diagnostics.error(place_of(given, "exponent_width"),
                    "an exponent_width of " + std::to_string(exponent_width) + " and " + bits +
                        " exceed the width of " + std::to_string(width) +
                        "; use a width of at least " + std::to_string(exponent_width + 1 + least) +
                        ", or a narrower exponent");
}

}  // namespace

const MinifloatElement& find_element(std::string_view name) {
  const auto found =
      std::find_if(minifloat_elements.begin(), minifloat_elements.end(),
                   [&](const MinifloatElement& element) { return element.name == name; });
  MASE_CHECK(found != minifloat_elements.end(), "element not checked by its field");
  return *found;
}

void MinifloatIeee::apply_element(const Tree& given, Diagnostics& diagnostics) {
  const MinifloatElement& named = find_element(*element);
  const auto set = [&](std::string_view key, auto& value, const auto& wanted,
                       const std::string& text) {
    const Tree* entry = given.find(key);
    const bool is_given = entry && !field_detail::is_none(*entry);
    if (is_given && value != wanted)
      diagnostics.error(entry->where, "element '" + *element + "' has " + std::string(key) + " " +
                                          text + "; leave '" + std::string(key) +
                                          "' out, or leave out 'element' and give all of them");
    value = wanted;
  };
  const auto set_number = [&](std::string_view key, auto& value, int wanted) {
    set(key, value, wanted, std::to_string(wanted));
  };
  set_number("width", width, named.width);
  set_number("exponent_width", exponent_width, named.exponent_width);
  set_number("exponent_bias", exponent_bias, named.exponent_bias);
  const std::string specials(name_of(named.specials));
  set("inf_nan", inf_nan, specials, specials);
  element.reset();  // so that equal formats have equal texts
}

void MinifloatIeee::check_specials(const Tree& given, Diagnostics& diagnostics) const {
  const SourceLocation where = place_of_setting(given, "inf_nan");
  const int fraction_bits = width - 1 - exponent_width;
  if (inf_nan == "ieee" && (exponent_width < 2 || fraction_bits < 1))
    diagnostics.error(where,
                      "inf_nan 'ieee' needs an exponent_width of at least 2 and a fraction bit, to "
                      "have numbers and a NaN; use inf_nan 'none'");
  if (inf_nan == "fn" && fraction_bits < 1)
    diagnostics.error(where, "inf_nan 'fn' needs a fraction bit; use inf_nan 'none'");
  if (inf_nan == "none" && !saturate)
    diagnostics.warning(place_of(given, "saturate"),
                        "'saturate' has no effect with inf_nan 'none': there is nothing beyond the "
                        "largest number");
  if (profile == "reference" && (inf_nan != "none" || !saturate))
    diagnostics.error(
        inf_nan != "none" ? where : place_of(given, "saturate"),
        "profile 'reference' has numbers only; use inf_nan 'none' with saturation, or "
        "profile 'exact'");
}

void MinifloatIeee::resolve(const Tree& given, Diagnostics& diagnostics) {
  if (element) apply_element(given, diagnostics);
  if (!exponent_bias) exponent_bias = default_bias(exponent_width);
  check_fraction(given, width, exponent_width, 0, diagnostics);
  check_specials(given, diagnostics);
  check_common(given, false, diagnostics);
}

MinifloatSpec MinifloatIeee::spec() const {
  return {width,
          exponent_width,
          exponent_bias.value_or(default_bias(exponent_width)),
          specials_of(inf_nan),
          saturate,
          rounding_value(),
          profile_value(),
          seed_value(),
          true};
}

void MinifloatDenorm::resolve(const Tree& given, Diagnostics& diagnostics) {
  if (!exponent_bias) exponent_bias = default_bias(exponent_width);
  check_fraction(given, width, exponent_width, 1, diagnostics);
  check_common(given, false, diagnostics);
}

MinifloatSpec MinifloatDenorm::spec() const {
  return {width,           exponent_width, exponent_bias.value_or(default_bias(exponent_width)),
          Specials::none,  true,           rounding_value(),
          profile_value(), seed_value(),   false};
}

FormatRow minifloat_ieee_row() { return format_row<MinifloatIeee>(); }
FormatRow minifloat_denorm_row() { return format_row<MinifloatDenorm>(); }
FormatRow fp8_e4m3_row() { return format_row<Fp8E4m3>(); }
FormatRow fp8_e5m2_row() { return format_row<Fp8E5m2>(); }
FormatRow fp6_e3m2_row() { return format_row<Fp6E3m2>(); }
FormatRow fp6_e2m3_row() { return format_row<Fp6E2m3>(); }
FormatRow fp4_e2m1_row() { return format_row<Fp4E2m1>(); }

}  // namespace mase::formats
