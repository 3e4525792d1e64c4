// SPDX-License-Identifier: Apache-2.0
// The table of all number formats, one row each, and the search for a format by name or text.
#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/format.hpp"
#include "formats/format_text.hpp"

namespace mase::formats {

// Each is defined in the source file of its format.
FormatRow integer_row(), integer_floor_row(), fixed_row(), scale_integer_row(),
    minifloat_ieee_row(), minifloat_denorm_row(), fp8_e4m3_row(), fp8_e5m2_row(), fp6_e3m2_row(),
    fp6_e2m3_row(), fp4_e2m1_row(), log_row(), block_fp_row(), block_minifloat_row(),
    block_log_row(), mxint_row(), mxint8_row(), mxint4_row(), mxint2_row(), mxint_hardware_row(),
    mxfp_row(), mxfp8_e4m3_row(), mxfp8_e5m2_row(), mxfp6_e3m2_row(), mxfp6_e2m3_row(), mxfp4_row(),
    nvfp4_row(), binary_row(), binary_residual_row(), ternary_row();

namespace {

// In the order of `mase list formats`.
constexpr FormatRow (*row_functions[])() = {
    // Fixed point and scaled integers.
    integer_row,
    integer_floor_row,
    fixed_row,
    scale_integer_row,
    // Small floats and powers of two.
    minifloat_ieee_row,
    minifloat_denorm_row,
    fp8_e4m3_row,
    fp8_e5m2_row,
    fp6_e3m2_row,
    fp6_e2m3_row,
    fp4_e2m1_row,
    log_row,
    // Blocks with a shared exponent.
    block_fp_row,
    block_minifloat_row,
    block_log_row,
    mxint_row,
    mxint8_row,
    mxint4_row,
    mxint2_row,
    mxint_hardware_row,
    mxfp_row,
    mxfp8_e4m3_row,
    mxfp8_e5m2_row,
    mxfp6_e3m2_row,
    mxfp6_e2m3_row,
    mxfp4_row,
    nvfp4_row,
    // One and two bits.
    binary_row,
    binary_residual_row,
    ternary_row,
};

[[noreturn]] void unknown_format(const FormatCall& call) {
  config_error(call.where.text() + ": error: unknown format '" + call.name + "'" +
               did_you_mean(call.name, format_names()) +
               " (formats: " + join(format_names(), ", ") + ")");
}

// Gives values by position the keys of the fields, in their order.
Tree named_arguments(const FormatRow& row, const FormatCall& call) {
  const auto& values = call.positional.as_list();
  if (values.size() > row.fields.size())
    config_error(call.where.text() + ": error: format '" + row.name + "' takes at most " +
                 std::to_string(row.fields.size()) + " parameters, but " +
                 std::to_string(values.size()) + " are given");
  Tree arguments = call.keyed;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& key = row.fields[i].name;
    if (arguments.find(key))
      config_error(values[i].where.text() + ": error: '" + key +
                   "' is given by position and by key");
    arguments[key] = values[i];
  }
  return arguments;
}

}  // namespace

const std::vector<FormatRow>& format_table() {
  static const std::vector<FormatRow> table = [] {
    std::vector<FormatRow> rows;
    for (FormatRow (*const row)() : row_functions) rows.push_back(row());
    return rows;
  }();
  return table;
}

const FormatRow* find_format(std::string_view name) {
  for (const FormatRow& row : format_table())
    if (row.name == name) return &row;
  return nullptr;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const FormatRow& row : format_table()) names.push_back(row.name);
  return names;
}

Format format_of(std::string_view name, const Tree& fields) {
  const FormatRow* row = find_format(name);
  MASE_CHECK(row, "a format without a row");
  Diagnostics refused;
  const auto format = row->make(fields, refused);
  MASE_CHECK(format, "format " + row->name + " refused its fields: " + refused.text());
  return *format;
}

FormatFields read_format(std::string_view text) {
  const FormatCall call = read_format_call(text);
  const FormatRow* row = find_format(call.name);
  if (!row) unknown_format(call);
  return {row, named_arguments(*row, call)};
}

Format parse_format(std::string_view text) {
  const FormatFields read = read_format(text);
  Diagnostics diagnostics;
  const auto format = read.row->make(read.fields, diagnostics);
  diagnostics.throw_if_errors();
  MASE_CHECK(format, "a format was refused without a reason");
  return *format;
}

}  // namespace mase::formats
