// SPDX-License-Identifier: Apache-2.0
// Resolving the parameters of the microscaling formats.
#include "formats/microscaling/mx.hpp"

#include <algorithm>
#include <array>

namespace mase::formats {
namespace {

struct Element {
  std::string_view name;
  int exponent_width, frac_width, bias;
  Specials specials;
};

// The last element is not from OCP and has no name.
constexpr std::array<Element, 6> elements{{{"e4m3fn", 4, 3, 7, Specials::fn},
                                           {"e5m2", 5, 2, 15, Specials::ieee},
                                           {"e3m2", 3, 2, 3, Specials::none},
                                           {"e2m3", 2, 3, 1, Specials::none},
                                           {"e2m1", 2, 1, 1, Specials::none},
                                           {"", 1, 2, 0, Specials::none}}};

const Element* find_element(int exponent_width, int frac_width) {
  const auto* const found = std::find_if(elements.begin(), elements.end(), [&](const Element& e) {
    return e.exponent_width == exponent_width && e.frac_width == frac_width;
  });
  return found == elements.end() ? nullptr : found;
}

void copy_common(const CommonFields& fields, MxSpec& spec) {
  spec.rounding = fields.rounding_value();
  spec.profile = fields.profile_value();
  spec.seed = fields.seed_value();
}

void check_rule(const CommonFields& fields, const std::string& rule, const Tree& given,
                Diagnostics& diagnostics) {
  if (fields.profile == "reference" && rule != "floor")
    diagnostics.error(place_of(given, "scale_rule"),
                      "profile 'reference' has its own rule for scales; leave out 'scale_rule' or "
                      "use profile 'exact'");
}

}  // namespace

MxSpec MxLineFields::line_spec() const {
  MxSpec spec;
  spec.scale_bits = scale_bits;
  spec.exponent_min = exponent_min;
  spec.exponent_max = exponent_max;
  spec.rule = scale_rule_of(scale_rule);
  copy_common(*this, spec);
  return spec;
}

MxBlocks MxLineFields::blocks(const Shape& shape) const {
  if (profile == "reference") return run_blocks(shape, block_size, block_dim);
  return line_blocks(shape, block_size, block_dim);
}

std::string MxLineFields::line_torchscript(const MxSpec& spec, int rank) const {
  return mx_torchscript(spec, block_size, block_dim, rank);
}

void MxLineFields::check_line(const Tree& given, bool floats, Diagnostics& diagnostics) const {
  check_common(given, false, diagnostics);
  check_rule(*this, scale_rule, given, diagnostics);
  check_exponents(given, diagnostics);
  if (floats && profile == "reference" && scale_bits != 8)
    diagnostics.error(place_of(given, "scale_bits"),
                      "profile 'reference' has scales of 8 bits for float elements, not " +
                          std::to_string(scale_bits));
}

void MxLineFields::check_exponents(const Tree& given, Diagnostics& diagnostics) const {
  MxSpec spec;
  spec.scale_bits = scale_bits;
  const int lowest = spec.lowest_stored(), highest = spec.highest_stored();
  const auto check = [&](const char* field, std::optional<int> exponent) {
    if (!exponent) return;
    if (profile == "reference")
      diagnostics.error(place_of(given, field),
                        "profile 'reference' does not bound exponents; leave out '" +
                            std::string(field) + "' or use profile 'exact'");
    else if (*exponent < lowest || *exponent > highest)
      diagnostics.error(place_of(given, field),
                        "'" + std::string(field) + "' must be between " + std::to_string(lowest) +
                            " and " + std::to_string(highest) + ", the exponents that " +
                            std::to_string(scale_bits) + " scale_bits hold, not " +
                            std::to_string(*exponent));
  };
  check("exponent_min", exponent_min);
  check("exponent_max", exponent_max);
  if (exponent_min && exponent_max && *exponent_min > *exponent_max)
    diagnostics.error(place_of(given, "exponent_min"),
                      "'exponent_min' must be at most 'exponent_max', " +
                          std::to_string(*exponent_max) + ", not " + std::to_string(*exponent_min));
}

void set_mx_element(MxSpec& spec, int exponent_width, int frac_width) {
  const Element* element = find_element(exponent_width, frac_width);
  MASE_CHECK(element != nullptr, "mxfp element not checked by resolve");
  spec.width = 1 + exponent_width + frac_width;
  spec.minifloat = MinifloatSpec{spec.width, exponent_width, element->bias,  element->specials,
                                 true,       spec.rounding,  Profile::exact, spec.seed};
}

MxSpec MxInt::spec() const {
  MxSpec spec = line_spec();
  spec.width = width;
  return spec;
}

void MxFp::resolve(const Tree& given, Diagnostics& diagnostics) {
  check_line(given, true, diagnostics);
  if (element) {
    const auto* const named = std::find_if(elements.begin(), elements.end(),
                                           [&](const Element& e) { return e.name == *element; });
    if (exponent_width.value_or(named->exponent_width) != named->exponent_width ||
        frac_width.value_or(named->frac_width) != named->frac_width)
      diagnostics.error(place_of(given, "element"),
                        "element '" + *element + "' has exponent_width " +
                            std::to_string(named->exponent_width) + " and frac_width " +
                            std::to_string(named->frac_width) + "; give one or the other");
    exponent_width = named->exponent_width;
    frac_width = named->frac_width;
    element.reset();
  }
  if (!exponent_width) exponent_width = 4;
  if (!frac_width) frac_width = 3;
  if (!find_element(*exponent_width, *frac_width))
    diagnostics.error(place_of(given, "exponent_width"),
                      "mxfp has no element of exponent_width " + std::to_string(*exponent_width) +
                          " and frac_width " + std::to_string(*frac_width) +
                          "; use (4, 3), (5, 2), (3, 2), (2, 3), (2, 1) or (1, 2)");
}

MxSpec MxFp::spec() const {
  MxSpec spec = line_spec();
  set_mx_element(spec, exponent_width.value_or(4), frac_width.value_or(3));
  return spec;
}

void MxIntHardware::resolve(const Tree& given, Diagnostics& diagnostics) {
  check_common(given, false, diagnostics);
  check_rule(*this, scale_rule, given, diagnostics);
  if (parallelism.empty() || parallelism.size() > 2)
    diagnostics.error(place_of(given, "parallelism"),
                      "'parallelism' must have one or two numbers, [rows, columns], not " +
                          std::to_string(parallelism.size()));
}

MxSpec MxIntHardware::spec() const {
  MxSpec spec;
  spec.width = width;
  spec.scale = MxScale::offset;
  spec.scale_bits = exponent_width;
  spec.rule = scale_rule_of(scale_rule);
  copy_common(*this, spec);
  return spec;
}

MxBlocks MxIntHardware::blocks(const Shape& shape) const {
  return divided_blocks(shape, parallelism);
}

std::string MxIntHardware::torchscript(int rank) const {
  return mx_tiles_torchscript(spec(), parallelism, rank);
}

FormatRow mxint_row() { return format_row<MxInt>(); }
FormatRow mxint8_row() { return format_row<MxNamed<mxint8>>(); }
FormatRow mxint4_row() { return format_row<MxNamed<mxint4>>(); }
FormatRow mxint2_row() { return format_row<MxNamed<mxint2>>(); }
FormatRow mxint_hardware_row() { return format_row<MxIntHardware>(); }
FormatRow mxfp_row() { return format_row<MxFp>(); }
FormatRow mxfp8_e4m3_row() { return format_row<MxNamed<mxfp8_e4m3>>(); }
FormatRow mxfp8_e5m2_row() { return format_row<MxNamed<mxfp8_e5m2>>(); }
FormatRow mxfp6_e3m2_row() { return format_row<MxNamed<mxfp6_e3m2>>(); }
FormatRow mxfp6_e2m3_row() { return format_row<MxNamed<mxfp6_e2m3>>(); }
FormatRow mxfp4_row() { return format_row<MxNamed<mxfp4>>(); }

}  // namespace mase::formats
