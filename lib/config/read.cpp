// SPDX-License-Identifier: Apache-2.0
// TOML text to Tree through toml++. Its tables are sorted by key, so the order of the file is
// recovered from the places of the keys.
// Some malformed keys break an assertion of toml++ 3.3 in debug builds, which would abort the
// program; without it the same code goes on to report a syntax error, as it does in release builds.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "config/limits.hpp"
#include "config/toml.hpp"

namespace mase::config {
namespace {

class Converter {
 public:
  explicit Converter(const std::string& file) : file_(file) {}

  SourceLocation place(const toml::source_position& position) const {
    return {file_, static_cast<int>(position.line), static_cast<int>(position.column)};
  }

  Tree convert(const toml::node& node) const {
    Tree tree = convert_value(node);
    tree.where = place(node.source().begin);
    return tree;
  }

 private:
  Tree convert_value(const toml::node& node) const {
    if (const auto* table = node.as_table()) return convert_table(*table);
    if (const auto* array = node.as_array()) return convert_array(*array);
    if (const auto* text = node.as_string()) return Tree(text->get());
    if (const auto* number = node.as_integer()) return Tree(number->get());
    if (const auto* number = node.as_floating_point()) return Tree(number->get());
    if (const auto* flag = node.as_boolean()) return Tree(flag->get());
    config_error(Diagnostic{Severity::error, place(node.source().begin),
                            "dates and times are not supported; write a string in quotes"}
                     .text());
  }

  Tree convert_array(const toml::array& array) const {
    Tree out = Tree::list();
    for (const toml::node& item : array) out.push_back(convert(item));
    return out;
  }

  Tree convert_table(const toml::table& table) const {
    using Entry = std::pair<const toml::key*, const toml::node*>;
    std::vector<Entry> entries;
    for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.first->source().begin < b.first->source().begin;
    });
    Tree out = Tree::dict();
    out.as_dict().reserve(entries.size());
    for (const auto& [key, node] : entries) {
      Tree entry = convert(*node);
      entry.key_where = place(key->source().begin);
      if (entry.where.line == 0) entry.where = entry.key_where;
      out.as_dict().emplace_back(std::string(key->str()), std::move(entry));
    }
    return out;
  }

  const std::string& file_;
};

/// '; put the text in quotes: by = "type"' for the line `by = type`; otherwise "".
std::string quotes_hint(std::string_view text, int line) {
  const std::vector<std::string> lines = split(std::string(text), '\n');
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return "";
  const std::string& wrong = lines[static_cast<std::size_t>(line) - 1];
  const std::size_t equals = wrong.find('=');
  if (equals == std::string::npos) return "";
  const std::string value(trim(std::string_view(wrong).substr(equals + 1)));
  const bool is_word =
      !value.empty() && std::isdigit(static_cast<unsigned char>(value.front())) == 0 &&
      std::ranges::all_of(
          value, [](char c) { return is_identifier_char(c) || c == '-' || c == '/' || c == '.'; });
  if (!is_word || value == "true" || value == "false") return "";
  return "; put the text in quotes: " + std::string(trim(wrong.substr(0, equals))) + " = \"" +
         value + "\"";
}

}  // namespace

Tree parse_toml(std::string_view text, const std::string& file) {
  check_limits(text, file);
  const Converter converter(file);
  try {
    Tree root = converter.convert(toml::parse(text));
    root.where = {file, 0, 0};
    return root;
  } catch (const toml::parse_error& error) {
    const SourceLocation place = converter.place(error.source().begin);
    config_error(Diagnostic{Severity::error, place,
                            std::string(error.description()) + quotes_hint(text, place.line)}
                     .text());
  }
}

Tree read_toml(const std::string& path) {
  constexpr std::size_t limit = std::size_t{64} << 20;
  std::string text;
  try {
    text = read_file(path, limit);
  } catch (const Error& error) {
    config_error(error.what());
  }
  return parse_toml(text, path);
}

}  // namespace mase::config
