// SPDX-License-Identifier: Apache-2.0
// Printing of the syntax tree as verible-verilog-format lays it out, one port, parameter or
// connection a line.
#include "hardware/emit/text/verilog.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::emit::verilog {
namespace {

using integer::Wide;

constexpr std::string_view indentation = "  ";
/// The indentation of a line that goes on, as verible-verilog-format wraps ports, parameters and
/// connections.
constexpr std::string_view wrapped = "    ";

/// "" or "[7:0] ".
std::string range_text(std::int64_t width, bool scalar) {
  MASE_CHECK(width >= 1, "a vector needs a bit");
  return scalar ? "" : "[" + std::to_string(width - 1) + ":0] ";
}

/// Other control characters than line feeds end a comment for some readers (Yosys: \r).
std::string comment_text(std::string text, std::string_view indent) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::iscntrl(c) && c != '\n'; }, ' ');
  std::string out;
  for (const std::string& line : split(text, '\n')) {
    out += std::string(indent) + "//";
    out += line.empty() ? "\n" : " " + line + "\n";
  }
  return out;
}

std::string port_text(const Port& port) {
  const std::string direction =
      port.direction == Direction::input ? "input logic " : "output logic ";
  return std::string(wrapped) + direction + range_text(port.width, port.scalar) + port.name;
}

/// `.NAME(value)` lines joined by commas.
std::string bindings(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : pairs)
    lines.push_back(std::string(indentation) + std::string(wrapped) + "." + name + "(" + value +
                    ")");
  return join(lines, ",\n") + "\n";
}

std::string item_text(const Comment& comment) { return comment_text(comment.text, indentation); }

std::string item_text(const Net& net) {
  return std::string(indentation) + "logic " + range_text(net.width, net.scalar) + net.name + ";\n";
}

std::string item_text(const Assign& assign) {
  return std::string(indentation) + "assign " + assign.target + " = " + assign.value + ";\n";
}

std::string item_text(const Instance& instance) {
  std::string out = std::string(indentation) + instance.module;
  if (!instance.parameters.empty()) out += " #(\n" + bindings(instance.parameters) + "  )";
  out += " " + instance.name + " (\n" + bindings(instance.connections) + "  );\n";
  return out;
}

std::string hex_digits(Wide value, int width) {
  std::string digits;
  for (int bit = 0; bit < width; bit += 4, value >>= 4)
    digits += "0123456789abcdef"[static_cast<int>(value & 15)];
  return {digits.rbegin(), digits.rend()};
}

}  // namespace

std::string literal(const design::Sized& value) {
  const integer::FixedType type{std::min(value.width, 127), 0, value.is_signed};
  const bool has_digits = value.width <= 127 || !value.is_signed;  // wider ones begin with zeros
  MASE_CHECK(
      value.width >= 1 && has_digits && value.value >= type.low() && value.value <= type.high(),
      "a constant does not fit its width");
  const std::string prefix = std::to_string(value.width) + (value.is_signed ? "'s" : "'");
  // The magnitude of the least code has no positive literal of the same width.
  if (value.is_signed && value.value == type.low()) {
    const Wide low_bits = static_cast<Wide>(1) << (value.width - 1);
    return prefix + "h" + hex_digits(low_bits, value.width);
  }
  const std::string magnitude = integer::wide_text(value.value < 0 ? -value.value : value.value);
  return (value.value < 0 ? "-" : "") + prefix + "d" + magnitude;
}

std::string literal(const design::HexBits& value) {
  MASE_CHECK(!value.digits.empty() && value.width >= 1, "an empty constant");
  return std::to_string(value.width) + "'h" + value.digits;
}

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string literal(const design::ParameterValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    const bool fits_int = *number > std::numeric_limits<std::int32_t>::min() &&
                          *number <= std::numeric_limits<std::int32_t>::max();
    return fits_int ? std::to_string(*number) : literal(design::Sized{*number, 64, true});
  }
  if (const auto* sized = std::get_if<design::Sized>(&value)) return literal(*sized);
  if (const auto* bits = std::get_if<design::HexBits>(&value)) return literal(*bits);
  return literal(std::string_view(std::get<std::string>(value)));
}

std::string print(const Module& module) {
  std::string out = comment_text(module.comment, "");
  std::vector<std::string> ports;
  for (const Port& port : module.ports) ports.push_back(port_text(port));
  out += "module " + module.name;
  out += ports.empty() ? ";\n" : " (\n" + join(ports, ",\n") + "\n);\n";
  const Item* before = nullptr;
  for (const Item& item : module.items) {
    const bool heads = std::holds_alternative<Comment>(item);
    const bool separate = std::holds_alternative<Instance>(item) &&
                          !(before && std::holds_alternative<Comment>(*before));
    if (before && (heads || separate)) out += '\n';
    out += std::visit([](const auto& value) { return item_text(value); }, item);
    before = &item;
  }
  return out + "endmodule\n";
}

std::string concatenation(const std::vector<std::string>& low_first) {
  if (low_first.size() == 1) return low_first.front();
  return "{" + join({low_first.rbegin(), low_first.rend()}, ", ") + "}";
}

std::string slice(const std::string& vector, std::int64_t first, std::int64_t width) {
  return vector + "[" + std::to_string(first + width - 1) + ":" + std::to_string(first) + "]";
}

}  // namespace mase::emit::verilog
