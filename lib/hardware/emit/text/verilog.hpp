// SPDX-License-Identifier: Apache-2.0
// A small syntax tree of SystemVerilog, enough for modules that only declare, instantiate and
// connect, and its printer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hardware/design/module_parameters.hpp"

namespace mase::emit::verilog {

std::string literal(const design::Sized& value);           ///< "-8'sd3", "12'd7"
std::string literal(const design::HexBits& value);         ///< "12'h0ff"
std::string literal(std::string_view text);                ///< quoted, with SystemVerilog's escapes
std::string literal(const design::ParameterValue& value);  ///< of whatever it holds

/// The direction of a port, seen from inside the module.
enum class Direction { input, output };

/// A vector `[width-1:0]`; width 1 of a `scalar` port has no range.
struct Port {
  Direction direction = Direction::input;
  std::string name;
  std::int64_t width = 1;
  bool scalar = false;
};

/// A `logic` of the module.
struct Net {
  std::string name;
  std::int64_t width = 1;
  bool scalar = false;
};

/// `assign target = value;`
struct Assign {
  std::string target, value;
};

/// Lines of `//`.
struct Comment {
  std::string text;  ///< may have several lines
};

/// Parameters and connections by name, in the order of printing; an empty expression leaves an
/// output open.
struct Instance {
  std::string module, name;
  std::vector<std::pair<std::string, std::string>> parameters, connections;
};

/// What stands in a module, in the order of printing.
using Item = std::variant<Comment, Net, Assign, Instance>;

/// A module, ready to be printed.
struct Module {
  std::string comment;  ///< what the module is, printed above it
  std::string name;
  std::vector<Port> ports;
  std::vector<Item> items;
};

/// SystemVerilog text with a newline at its end.
std::string print(const Module& module);

/// "{c, b, a}" for parts a, b, c whose first has the low bits; the part itself when it is one.
std::string concatenation(const std::vector<std::string>& low_first);

/// "vector[7:4]" for 4 bits from bit 4 on.
std::string slice(const std::string& vector, std::int64_t first, std::int64_t width);

}  // namespace mase::emit::verilog
