// SPDX-License-Identifier: Apache-2.0
// How torch.fx names nodes. The rules were found by observing symbolic tracing in torch 2.13.
#include "ir/naming.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "ir/lexer.hpp"

namespace mase::ir {
namespace {

// Python's keywords, its lower-case built-in names and the globals of torch.fx's generated code.
// Sorted: searched by bisection.
constexpr std::array<std::string_view, 115> reserved_names{
    "False",       "None",       "NoneType",     "True",      "abs",       "aiter",
    "all",         "and",        "anext",        "any",       "as",        "ascii",
    "assert",      "async",      "await",        "bin",       "bool",      "break",
    "breakpoint",  "bytearray",  "bytes",        "callable",  "chr",       "class",
    "classmethod", "compile",    "complex",      "continue",  "copyright", "credits",
    "def",         "del",        "delattr",      "device",    "dict",      "dir",
    "divmod",      "elif",       "else",         "enumerate", "eval",      "except",
    "exec",        "exit",       "filter",       "finally",   "float",     "for",
    "format",      "from",       "frozenset",    "fx_pytree", "getattr",   "global",
    "globals",     "hasattr",    "hash",         "help",      "hex",       "id",
    "if",          "import",     "in",           "inf",       "input",     "int",
    "is",          "isinstance", "issubclass",   "iter",      "lambda",    "len",
    "license",     "list",       "locals",       "map",       "max",       "memoryview",
    "min",         "nan",        "next",         "nonlocal",  "not",       "object",
    "oct",         "open",       "or",           "ord",       "pass",      "pow",
    "print",       "property",   "pytree",       "quit",      "raise",     "range",
    "repr",        "return",     "reversed",     "round",     "set",       "setattr",
    "slice",       "sorted",     "staticmethod", "str",       "sum",       "super",
    "torch",       "try",        "tuple",        "type",      "vars",      "while",
    "with"};
static_assert(std::ranges::is_sorted(reserved_names));

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
}  // namespace

bool is_reserved_name(std::string_view name) {
  if (name == "yield" || name == "zip") return true;
  return std::ranges::binary_search(reserved_names, name);
}

std::string sanitized_name(std::string_view wanted) {
  if (wanted.empty()) return "_unnamed";
  std::string name;
  if (is_digit(wanted.front())) name = "_";
  for (char c : wanted) {
    // One `_` for a whole character of UTF-8: its continuation bytes are 10xxxxxx.
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;
    name += is_identifier_char(c) ? c : '_';
  }
  return name.empty() ? "_unnamed" : name;
}

std::string node_name_of(std::string_view path) {
  const std::string clean = sanitized_name(path);
  std::string name;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    if (is_upper(c) && i > 0 && is_lower(clean[i - 1])) name += '_';
    name += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return name;
}

std::string wanted_name(const Node& node) {
  std::string_view target = node.target;
  if (node.kind == NodeKind::output) return "output";
  const bool callable = node.kind == NodeKind::call_function || node.kind == NodeKind::call_method;
  if (callable) {
    target = target.substr(target.rfind('.') + 1);
    const bool magic = target.size() > 4 && target.starts_with("__") && target.ends_with("__");
    if (magic) target = target.substr(2, target.size() - 4);
  }
  return node_name_of(target);
}

std::string_view owner_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::string_view last_part(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

}  // namespace mase::ir
