// SPDX-License-Identifier: Apache-2.0
// Guards are Python: L['x']['a'][0].size()[1] is a size of the input x_a_0.
#include "pt2/conditions.hpp"

#include <regex>

#include "ir/graph.hpp"

namespace mase::pt2 {
namespace {

/// The regular expressions take stack for every character, and conditions are a line long.
constexpr std::size_t longest = 1000;

std::string size_text(const std::string& name, const std::string& dim) {
  return "size(" + name + ", " + dim + ")";
}

/// The name that torch.export gives an argument "'x'", or a part of one, "'x']['a'][0".
std::string name_of_argument(const std::string& keys) {
  static const std::regex between("'?\\]\\['?");
  std::string name = std::regex_replace(keys, between, "_");
  std::erase(name, '\'');
  return name;
}

std::string in_words_of_guards(const std::string& code) {
  if (code.size() > longest) return std::string(ir::long_expression);
  static const std::regex size(R"(L\[([\w'\[\]]+)\]\.size\(\)\[(\d+)\])");
  std::string text;
  std::string::const_iterator from = code.begin();
  for (std::sregex_iterator at(code.begin(), code.end(), size), end; at != end; ++at) {
    text.append(from, (*at)[0].first);
    text += size_text(name_of_argument((*at)[1]), (*at)[2]);
    from = (*at)[0].second;
  }
  return text.append(from, code.end());
}

/// The symbol that a size is: "s77" of "s77" and of "Symbol('s77', positive=True, integer=True)".
std::string symbol_in(const std::string& expression) {
  static const std::regex symbol(R"((?:Symbol\(')?(\w+)(?:'[^()]*\))?)");
  std::smatch found;
  if (expression.size() > longest) return "";
  return std::regex_match(expression, found, symbol) ? found[1].str() : "";
}

void add_range(const Tree& range, const std::string& size, std::vector<std::string>& conditions) {
  if (const Tree* most = range.find("max_val"); most && most->is_int())
    conditions.push_back(size + " <= " + std::to_string(most->as_int()));
}

}  // namespace

std::vector<std::string> conditions_of(const Tree& document, const Program& program) {
  std::vector<std::string> conditions;
  if (const Tree* codes = document.find("guards_code"); codes && codes->is_list()) {
    for (const Tree& code : codes->as_list())
      if (code.is_string()) conditions.push_back(in_words_of_guards(code.as_string()));
    return conditions;
  }
  const Tree* ranges = document.find("range_constraints");
  for (const InputSpec& input : program.inputs) {
    const auto tensor = program.tensors.find(input.name);
    if (!ranges || input.kind != InputSpec::Kind::user || tensor == program.tensors.end()) continue;
    const std::vector<SymInt>& sizes = tensor->second.sizes;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim)
      if (const Tree* range = ranges->find(symbol_in(sizes[dim].expression)))
        add_range(*range, size_text(input.name, std::to_string(dim)), conditions);
  }
  return conditions;
}

}  // namespace mase::pt2
