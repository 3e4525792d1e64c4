// SPDX-License-Identifier: Apache-2.0
// Finds spellings in source text, without LibTorch.
#include "torch/import/text.hpp"

#include "base/text.hpp"
#include "ir/op_table.hpp"

namespace mase::libtorch {
namespace {

std::string_view plain_name(std::string_view base) { return base.substr(base.rfind(':') + 1); }

Spelling from_table(std::string_view base) {
  const ir::CallRow* row = ir::find_call(base);
  if (row) return {row->kind, std::string(row->target)};
  return {ir::NodeKind::call_function, "torch." + std::string(plain_name(base))};
}

bool is_path(std::string_view text) {
  for (const char c : text) {
    if (!is_identifier_char(c) && c != '.') return false;
  }
  return !text.empty();
}

/// `F.NAME`, but a builtin keeps the module under which the table has it (torch._C._nn.gelu).
Spelling functional(std::string_view base, std::string_view name) {
  if (name.starts_with('_')) name.remove_prefix(1);
  const Spelling known = from_table(base);
  if (known.kind == ir::NodeKind::call_function &&
      known.target.substr(known.target.rfind('.') + 1) == name) {
    return known;
  }
  return {ir::NodeKind::call_function, "torch.nn.functional." + std::string(name)};
}

/// The innermost Python frame of a trace: "DIR/torch/nn/functional.py(1771): relu\n...".
std::string_view traced_functional(std::string_view text) {
  constexpr std::string_view file = "torch/nn/functional.py(";
  const std::string_view first = text.substr(0, text.find('\n'));
  const std::size_t start = first.find(file), colon = first.find("): ");
  if (start == std::string_view::npos || colon == std::string_view::npos) return "";
  const bool whole_name = start == 0 || first[start - 1] == '/';
  return whole_name && colon > start ? trim(first.substr(colon + 3)) : "";
}

/// Whether the text of a method call ends in `.name`, whose last letters may be cut off.
bool ends_as_method(std::string_view text, std::string_view name) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  const std::string_view last = text.substr(dot + 1);
  return !last.empty() && last.size() + 2 >= name.size() && name.starts_with(last);
}

}  // namespace

Spelling spelling_of(std::string_view base, const SourceText& source) {
  const std::string_view text = trim(source.text);
  const std::string_view name = plain_name(base);
  const std::string_view traced = traced_functional(text);
  if (!traced.empty()) return functional(base, traced);
  if (text.empty() || text.find(".py(") != std::string_view::npos) return from_table(base);
  if (is_path(text)) {
    const std::string_view last = text.substr(text.rfind('.') + 1);
    if (text.starts_with("F.") || text.starts_with("nn.functional.") ||
        text.starts_with("torch.nn.functional.")) {
      return functional(base, last);
    }
    if (text.starts_with("torch.")) return {ir::NodeKind::call_function, std::string(text)};
  }
  if (ends_as_method(text, name)) return {ir::NodeKind::call_method, std::string(name)};
  // Source text that is neither a path nor a method is an operator, as a @ b.
  if (base == "aten::matmul") return {ir::NodeKind::call_function, "_operator.matmul"};
  return from_table(base);
}

std::string demangled(std::string_view type_name) {
  std::vector<std::string> kept;
  for (const std::string& part : split(type_name, '.')) {
    if (part != "__torch__" && !part.starts_with("___torch_mangle_")) kept.push_back(part);
  }
  return join(kept, ".");
}

std::string function_target(std::string_view qualified_name) {
  std::string path = demangled(qualified_name);
  const std::size_t name = path.rfind('.') + 1;
  if (path.starts_with("torch.nn.functional._")) path.erase(name, 1);
  return path;
}

}  // namespace mase::libtorch
