// SPDX-License-Identifier: Apache-2.0
// Resolving the parameters of nvfp4.
#include "formats/microscaling/nvfp4.hpp"

namespace mase::formats {

bool Nvfp4TensorScale::read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                                  Diagnostics& diagnostics) {
  two_levels = !tree.is_string() || tree.as_string() != "none";
  value.reset();
  if (!two_levels) return true;
  if (tree.is_string() && !field_detail::is_none(tree)) {
    field_detail::wrong_type(tree, key, field_type(), diagnostics);
    return false;
  }
  return field_detail::read_value(tree, key, rules, value, diagnostics);
}

Tree Nvfp4TensorScale::write_field() const {
  return two_levels ? field_detail::write_value(value) : Tree("none");
}

void Nvfp4::resolve(const Tree& given, Diagnostics& diagnostics) {
  check_common(given, false, diagnostics);
  if (profile == "reference")
    diagnostics.error(place_of(given, "profile"),
                      "nvfp4 has no profile 'reference'; use profile 'exact'");
  // Scales are float32; the text form says so.
  if (tensor_scale.value)
    tensor_scale.value = static_cast<double>(static_cast<float>(*tensor_scale.value));
}

Nvfp4Spec Nvfp4::spec() const {
  Nvfp4Spec spec{tensor_scale.two_levels, std::nullopt, rounding_value(), seed_value()};
  if (tensor_scale.value) spec.tensor_scale = static_cast<float>(*tensor_scale.value);
  return spec;
}

Range Nvfp4::range() const {
  constexpr double most = 6.0 * 448.0;
  constexpr double any = std::numeric_limits<float>::max();
  const double high =
      tensor_scale.two_levels ? tensor_scale.value.value_or(any / most) * most : most;
  return {-high, high};
}

std::shared_ptr<const FormatDefinition> Nvfp4::of_peak(float largest) const {
  if (!scale_follows()) return nullptr;
  auto given = std::make_shared<Nvfp4>(*this);
  given->tensor_scale.value = static_cast<double>(nvfp4_tensor_scale(largest));
  return given;
}

FormatRow nvfp4_row() { return format_row<Nvfp4>(); }

}  // namespace mase::formats
