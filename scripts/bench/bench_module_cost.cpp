// SPDX-License-Identifier: Apache-2.0
// Prints the predicted cost of one module as JSON: bench_module_cost MODULE NAME=VALUE...
#include <algorithm>
#include <iostream>

#include "base/text.hpp"
#include "hardware/design/module_table.hpp"

namespace {

using mase::design::Cost;
using mase::design::ParameterValue;

/// Reads an integer, a Verilog constant in hexadecimal, or any text.
ParameterValue read_value(const std::string& text) {
  if (const auto number = mase::parse_int(text)) return *number;
  const std::size_t hex = text.find("'h");
  if (hex == std::string::npos) return text;
  return mase::design::HexBits{text.substr(hex + 2),
                               mase::parse_int(text.substr(0, hex)).value_or(1)};
}

/// The values that the templates assume for parameters that are not given.
mase::design::ModuleParameters defaults() {
  return {{"SETS", 1},    {"ASIGNED", 1},  {"WSIGNED", 1},   {"ISIGNED", 1},
          {"SSIGNED", 1}, {"HAS_BIAS", 1}, {"HAS_SHIFT", 1}, {"OW", 8},
          {"SHIFT", 8},   {"DIVISOR", 1},  {"ROUND", 1},     {"MULTIPLIER", 0}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::cerr << "usage: bench_module_cost MODULE NAME=VALUE...\n", 2;
  const std::vector<mase::design::ModuleRow>& table = mase::design::module_table();
  if (std::none_of(table.begin(), table.end(),
                   [&](const auto& row) { return row.name == argv[1]; }))
    return std::cerr << "no hardware module '" << argv[1] << "' (mase list modules)\n", 2;
  mase::design::Instance instance{"unit", argv[1], "", defaults(), {}, {}};
  for (int i = 2; i < argc; ++i) {
    const std::string item = argv[i];
    const std::size_t equals = item.find('=');
    instance.parameters.set(item.substr(0, equals), read_value(item.substr(equals + 1)));
  }
  const Cost cost = mase::design::instance_cost({}, instance);
  std::cout << "{\"lut\": " << cost.lut << ", \"carry\": " << cost.carry << ", \"ff\": " << cost.ff
            << ", \"dsp\": " << cost.dsp << ", \"bram\": " << cost.bram << "}\n";
}
