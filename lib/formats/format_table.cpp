// The table of all number formats, one row each, and finding a format by name or by text.
#include <algorithm>

#include "base/text.hpp"
#include "formats/block/block_fp.hpp"
#include "formats/block/block_log.hpp"
#include "formats/block/block_minifloat.hpp"
#include "formats/fixed/integer.hpp"
#include "formats/fixed/scale_integer.hpp"
#include "formats/low_bit/binary.hpp"
#include "formats/low_bit/binary_residual.hpp"
#include "formats/low_bit/ternary.hpp"
#include "formats/microscaling/mx.hpp"
#include "formats/microscaling/nvfp4.hpp"
#include "formats/minifloat/log.hpp"
#include "formats/minifloat/minifloat.hpp"

namespace mase::formats {
namespace {

[[noreturn]] void unknown_format(const FormatCall& call) {
  std::string message = call.where.text() + ": error: unknown format '" + call.name + "'";
  if (const auto guess = nearest(call.name, format_names()))
    message += "; did you mean '" + *guess + "'?";
  config_error(message + " (formats: " + join(format_names(), ", ") + ")");
}

// Values by position take the keys of the fields in their order.
Tree named_arguments(const FormatRow& row, const FormatCall& call) {
  const auto& values = call.positional.as_list();
  if (values.size() > row.fields.size())
    config_error(call.where.text() + ": error: format '" + row.name + "' has only " +
                 std::to_string(row.fields.size()) + " parameters");
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
  static const std::vector<FormatRow> table{
      // Fixed point and scaled integers.
      format_row<Integer>(),
      format_row<IntegerFloor>(),
      format_row<Fixed>(),
      format_row<ScaleInteger>(),
      // Small floats and powers of two.
      format_row<MinifloatIeee>(),
      format_row<MinifloatDenorm>(),
      format_row<Fp8E4m3>(),
      format_row<Fp8E5m2>(),
      format_row<Fp6E3m2>(),
      format_row<Fp6E2m3>(),
      format_row<Fp4E2m1>(),
      format_row<LogFormat>(),
      // Blocks with a shared exponent.
      format_row<BlockFp>(),
      format_row<BlockMinifloat>(),
      format_row<BlockLog>(),
      format_row<MxInt>(),
      format_row<MxNamed<mxint8>>(),
      format_row<MxNamed<mxint4>>(),
      format_row<MxNamed<mxint2>>(),
      format_row<MxIntHardware>(),
      format_row<MxFp>(),
      format_row<MxNamed<mxfp8_e4m3>>(),
      format_row<MxNamed<mxfp8_e5m2>>(),
      format_row<MxNamed<mxfp6_e3m2>>(),
      format_row<MxNamed<mxfp6_e2m3>>(),
      format_row<MxNamed<mxfp4>>(),
      format_row<Nvfp4>(),
      // One and two bits.
      format_row<Binary>(),
      format_row<BinaryResidual>(),
      format_row<Ternary>(),
  };
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

Format parse_format(std::string_view text) {
  const FormatCall call = read_format_call(text);
  const FormatRow* row = find_format(call.name);
  if (!row) unknown_format(call);
  Diagnostics diagnostics;
  const auto format = row->make(named_arguments(*row, call), diagnostics);
  diagnostics.throw_if_errors();
  MASE_CHECK(format, "a format was refused without a reason");
  return *format;
}

}  // namespace mase::formats
