// SPDX-License-Identifier: Apache-2.0
// The formats with a datapath.
#include "hardware/integer/datapath.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::integer {
using formats::Rounding;

Grid grid_of_levels(std::shared_ptr<const Levels> levels) {
  const FixedType type = levels->type;
  return {type, Rounding::nearest_even, std::move(levels)};
}

std::string format_text(const Grid& grid) {
  if (grid.levels) return grid.levels->format;
  if (grid.blocks) return grid.blocks->text();
  return "integer(" + std::to_string(grid.type.width) + ", " + std::to_string(grid.type.frac) +
         (grid.type.is_signed ? "" : ", is_signed=false") +
         (grid.rounding == Rounding::nearest_even
              ? ""
              : ", rounding=" + std::string(formats::rounding_name(grid.rounding))) +
         ")";
}

namespace {

/// Profile `mase` computes x * 2^frac, rounding and clamping in float32. Its codes are those of
/// exact arithmetic when the limits are float32 numbers (width <= 24) and no product underflows in
/// a way that rounding sees: nearest gives 0 for every tiny product, floor needs products that are
/// not smaller than x (frac >= 0).
void check_profile(const Tree& fields, const Grid& grid) {
  if (fields.at("profile").as_string() != "reference") return;
  if (grid.type.width > 24)
    unsupported_error(
        "profile 'reference' above 24 bits has codes of its own; use profile 'exact'");
  if (grid.rounding == Rounding::floor && grid.type.frac < 0)
    unsupported_error(
        "profile 'reference' with floor and a negative fraction has codes of its own; use "
        "profile 'exact'");
}

Grid fixed_point(const formats::Format& format, Rounding rounding) {
  const Tree fields = format.fields();
  Grid grid{{static_cast<int>(fields.at("width").as_int()),
             static_cast<int>(fields.at("frac_width").as_int()), fields.at("is_signed").as_bool()},
            rounding};
  check_profile(fields, grid);
  return grid;
}

Grid integer_grid(const formats::Format& format) {
  const std::string rounding = format.deterministic().fields().at("rounding").as_string();
  return fixed_point(format, formats::rounding_of(rounding));
}

Grid integer_floor_grid(const formats::Format& format) {
  return fixed_point(format, Rounding::floor);
}

/// Profile `reference` has values beside the grid, and gives smaller ones for larger numbers.
void check_exact(const formats::Format& format) {
  const Tree fields = format.fields();
  const Tree* profile = fields.find("profile");
  if (profile && profile->as_string() == "reference")
    unsupported_error("profile 'reference' of '" + std::string(format.name()) +
                      "' has no datapath; profile 'exact' has one");
}

Grid element_grid(const formats::Format& format) {
  check_exact(format);
  return grid_of_levels(levels_of(format));
}

/// The exponents of blocks, and with them the grid, follow from elements as they come.
Grid block_grid(const formats::Format& format) {
  check_exact(format);
  return {{}, Rounding::nearest_even, nullptr, format.deterministic()};
}

/// By any other scale than a power of two the numbers of a stream would have as many bits more as
/// the scale. Rounded down, a number times the reciprocal of its scale may lose a step.
Grid nvfp4_grid(const formats::Format& format) {
  const Tree fields = format.deterministic().fields();
  const Tree& scale = fields.at("tensor_scale");
  const std::string only = ", which has a datapath only for weights that stay; ";
  if (scale == Tree("NA"))
    unsupported_error("format '" + format.text() +
                      "' has a scale that follows from all elements of a tensor" + only +
                      "tensor_scale = \"none\" has one for all, and so has tensor_scale = \"auto\" "
                      "(pass quantize), which finds a power of two");
  int exponent = 0;
  if (!scale.is_string() && std::frexp(scale.as_double(), &exponent) != 0.5)
    unsupported_error("format '" + format.text() + "' has a scale that is not a power of two" +
                      only + "tensor_scale = " + double_text(std::ldexp(1.0, exponent)) +
                      " has one for all");
  if (fields.at("rounding") == Tree("floor"))
    unsupported_error("format '" + format.text() + "' rounds down numbers that it has" + only +
                      "rounding = \"nearest_even\" has one for all");
  return block_grid(format);
}

Grid row_scaled_grid(const formats::Format& format) {
  if (!format.fields().at("channel_step").as_list().empty())
    unsupported_error(
        "'scale_integer' with given steps has a datapath for weights and biases of linear layers "
        "and convolutions that stay; emit the design without reloadable, or give them 'integer'");
  unsupported_error(
      "format '" + format.text() +
      "' scales each row by its largest element, which has a datapath only for weights of linear "
      "layers that stay; 'integer', whose frac_width calibrate chooses, has one for all");
}

Grid residual_grid(const formats::Format& format) {
  try {
    return element_grid(format);
  } catch (const Error& error) {
    unsupported_error(std::string(error.what()) +
                      "; means that are binary fractions and at least halve from one to the next, "
                      "as [0.5, 0.25], have one");
  }
}

/// Without one of these numbers the threshold follows from the magnitudes of the whole tensor.
Grid ternary_grid(const formats::Format& format) {
  const Tree fields = format.fields();
  const auto given = [&](const char* field) { return fields.at(field) != Tree("NA"); };
  if (!given("threshold") && !given("mean") && !given("max") && !given("median"))
    unsupported_error(
        "format '" + format.text() +
        "' chooses its threshold by all elements, which has a datapath only for weights that "
        "stay; " +
        (fields.at("scaling_factor").as_bool()
             ? "threshold = 0.5, say, with scaling_factor = false, has one for all"
             : "threshold = 0.5, say, has one for all"));
  return element_grid(format);
}

}  // namespace

const std::vector<DatapathRow>& datapath_table() {
  static const std::vector<DatapathRow> rows{
      {"integer", integer_grid},
      {"fixed", integer_grid},
      {"integer_floor", integer_floor_grid},
      {"scale_integer", row_scaled_grid, true},
      {"minifloat_ieee", element_grid, true},
      {"minifloat_denorm", element_grid, true},
      {"fp8_e4m3", element_grid, true},
      {"fp8_e5m2", element_grid, true},
      {"fp6_e3m2", element_grid, true},
      {"fp6_e2m3", element_grid, true},
      {"fp4_e2m1", element_grid, true},
      {"log", element_grid, true},
      {"block_fp", block_grid, true},
      {"block_minifloat", block_grid, true},
      {"block_log", block_grid, true},
      {"mxint", block_grid, true},
      {"mxint8", block_grid, true},
      {"mxint4", block_grid, true},
      {"mxint2", block_grid, true},
      {"mxint_hardware", block_grid, true},
      {"mxfp", block_grid, true},
      {"mxfp8_e4m3", block_grid, true},
      {"mxfp8_e5m2", block_grid, true},
      {"mxfp6_e3m2", block_grid, true},
      {"mxfp6_e2m3", block_grid, true},
      {"mxfp4", block_grid, true},
      {"nvfp4", nvfp4_grid, true},
      {"binary", element_grid, true},
      {"binary_residual", residual_grid, true},
      {"ternary", ternary_grid, true},
  };
  return rows;
}

namespace {

const DatapathRow& datapath_of(const formats::Format& format) {
  std::vector<std::string> known;
  for (const DatapathRow& row : datapath_table()) {
    if (row.format == format.name()) return row;
    known.push_back(std::string(row.format));
  }
  unsupported_error("format '" + std::string(format.name()) +
                    "' has no datapath; formats that have one: " + join(known, ", "));
}

}  // namespace

bool rounds_to_levels(const formats::Format& format) { return datapath_of(format).has_levels; }

Grid grid_of(const formats::Format& format) {
  const DatapathRow& row = datapath_of(format);
  if (format.per_channel())
    unsupported_error(
        "granularity = \"channel\" has a datapath for weights of linear layers and of convolutions "
        "that are not transposed; give this port granularity = \"tensor\"");
  return row.grid(format);
}

WeightGrid weight_grid_of(const formats::Format& format) {
  const DatapathRow& row = datapath_of(format);
  WeightGrid found{row.grid(format), {}};
  if (!format.per_channel()) return found;
  const Tree fields = format.fields();
  for (const Tree& frac : fields.at("channel_frac_width").as_list())
    found.fracs.push_back(static_cast<int>(frac.as_int()));
  if (found.fracs.empty()) return found;
  const auto [least, most] = std::ranges::minmax(found.fracs);
  found.grid.type.frac = least;
  if (least == most) found.fracs.clear();
  return found;
}

}  // namespace mase::integer
