// SPDX-License-Identifier: Apache-2.0
// Prints the predicted cost of one module as JSON: bench_module_cost MODULE NAME=VALUE...
// Without values it prints those that the module declares as measured, one set a line.
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

std::string text_of(const ParameterValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* sized = std::get_if<mase::design::Sized>(&value))
    return mase::integer::wide_text(sized->value);
  if (const auto* bits = std::get_if<mase::design::HexBits>(&value))
    return std::to_string(bits->width) + "'h" + bits->digits;
  return std::get<std::string>(value);
}

void print_measured(const mase::design::ModuleRow& row) {
  for (const mase::design::Measurement& one : row.measured()) {
    for (const auto& [name, value] : one.module->parameters())
      std::cout << name << '=' << text_of(value) << ' ';
    std::cout << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::cerr << "usage: bench_module_cost MODULE NAME=VALUE...\n", 2;
  const std::vector<mase::design::ModuleRow>& table = mase::design::module_table();
  const auto row = std::ranges::find(table, argv[1], &mase::design::ModuleRow::name);
  if (row == table.end())
    return std::cerr << "no hardware module '" << argv[1] << "' (mase list modules)\n", 2;
  if (argc == 2 && row->measured) return print_measured(*row), 0;
  if (!row->read) return std::cerr << argv[1] << " is only a part of other modules\n", 2;
  mase::design::ModuleParameters parameters;
  for (int i = 2; i < argc; ++i) {
    const std::string item = argv[i];
    const std::size_t equals = item.find('=');
    parameters.emplace_back(item.substr(0, equals), read_value(item.substr(equals + 1)));
  }
  const Cost cost = row->read(parameters)->cost({});
  std::cout << "{\"lut\": " << cost.lut << ", \"carry\": " << cost.carry << ", \"ff\": " << cost.ff
            << ", \"dsp\": " << cost.dsp << ", \"bram\": " << cost.bram << "}\n";
}
