// SPDX-License-Identifier: Apache-2.0
// Tree to TOML text that parses back to an equal tree, entries in the same order.
#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "config/toml.hpp"

namespace mase::config {
namespace {

std::string string_text(std::string_view text) {
  return replace_all(quote(text), "\x7F", "\\u007F");  // JSON allows DEL in a string, TOML does not
}

std::string key_text(const std::string& key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return is_identifier_char(c) || c == '-';
  });
  return bare ? key : string_text(key);
}

std::string join_keys(const std::string& path, const std::string& key) {
  return path.empty() ? key_text(key) : path + "." + key_text(key);
}

std::string value_text(const Tree& tree);

std::string list_text(const Tree::List& list) {
  std::vector<std::string> items;
  for (const Tree& item : list) items.push_back(value_text(item));
  return "[" + join(items, ", ") + "]";
}

std::string inline_table(const Tree::Dict& dict) {
  if (dict.empty()) return "{}";
  std::vector<std::string> entries;
  for (const auto& [key, entry] : dict)
    entries.push_back(key_text(key) + " = " + value_text(entry));
  return "{ " + join(entries, ", ") + " }";
}

std::string value_text(const Tree& tree) {
  if (tree.is_dict()) return inline_table(tree.as_dict());
  if (tree.is_list()) return list_text(tree.as_list());
  if (tree.is_string()) return string_text(tree.as_string());
  if (tree.is_int()) return std::to_string(tree.as_int());
  if (tree.is_double()) return double_text(tree.as_double());
  if (tree.is_bool()) return tree.as_bool() ? "true" : "false";
  return "\"NA\"";
}

bool is_table_array(const Tree& tree) {
  return tree.is_list() && tree.size() != 0 &&
         std::all_of(tree.as_list().begin(), tree.as_list().end(),
                     [](const Tree& item) { return item.is_dict(); });
}

class TomlWriter {
 public:
  /// A key after a [header] would belong to that table. So only the tables at the end of `dict` get
  /// headers; a table before a plain value is written with dotted keys, which keeps the order of
  /// entries.
  void write_table(const Tree::Dict& dict, const std::string& path) {
    const auto last_value = std::find_if(dict.rbegin(), dict.rend(), [](const auto& entry) {
      return !entry.second.is_dict() && !is_table_array(entry.second);
    });
    const auto split = dict.begin() + (dict.rend() - last_value);
    std::for_each(dict.begin(), split,
                  [&](const auto& entry) { write_entry(key_text(entry.first), entry.second); });
    std::for_each(split, dict.end(), [&](const auto& entry) {
      write_section(join_keys(path, entry.first), entry.second);
    });
  }

  std::string take() { return std::move(out_); }

 private:
  void write_entry(const std::string& dotted, const Tree& tree) {
    if (!tree.is_dict() || tree.size() == 0) {
      out_ += dotted + " = " + value_text(tree) + "\n";
      return;
    }
    for (const auto& [key, entry] : tree.as_dict()) write_entry(join_keys(dotted, key), entry);
  }

  void write_section(const std::string& path, const Tree& tree) {
    if (tree.is_list()) {
      for (const Tree& item : tree.as_list()) {
        write_header("[[" + path + "]]");
        write_table(item.as_dict(), path);
      }
      return;
    }
    const Tree::Dict& dict = tree.as_dict();
    const bool only_sections =
        !dict.empty() && std::all_of(dict.begin(), dict.end(), [](const auto& entry) {
          return entry.second.is_dict() || is_table_array(entry.second);
        });
    if (!only_sections) write_header("[" + path + "]");  // otherwise inner headers imply it
    write_table(dict, path);
  }

  void write_header(const std::string& header) {
    if (!out_.empty()) out_ += "\n";
    out_ += header + "\n";
  }

  std::string out_;
};

}  // namespace

std::string to_toml(const Tree& tree) {
  MASE_CHECK(tree.is_dict(), "only a table can be written as TOML text");
  TomlWriter writer;
  writer.write_table(tree.as_dict(), "");
  return writer.take();
}

}  // namespace mase::config
