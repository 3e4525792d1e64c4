// SPDX-License-Identifier: Apache-2.0
// Tree to JSON text and back. The parser of nlohmann/json feeds a builder of Trees, which bounds
// the depth and refuses a key that occurs twice.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_items.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"

namespace mase {
namespace {

constexpr std::size_t depth_limit = 200;

class JsonWriter {
 public:
  explicit JsonWriter(int indent) : indent_(indent) {}

  void write(const Tree& tree, int depth) {
    if (tree.is_list())
      write_list(tree.as_list(), depth);
    else if (tree.is_dict())
      write_dict(tree.as_dict(), depth);
    else
      write_scalar(tree);
  }
  std::string take() { return std::move(out_); }

 private:
  void write_scalar(const Tree& tree) {
    if (tree.is_bool())
      out_ += tree.as_bool() ? "true" : "false";
    else if (tree.is_int())
      out_ += std::to_string(tree.as_int());
    else if (tree.is_string())
      out_ += quote(tree.as_string());
    else if (tree.is_double() && std::isfinite(tree.as_double()))
      out_ += double_text(tree.as_double());
    else
      out_ += "null";
  }

  void write_list(const Tree::List& list, int depth) {
    out_ += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
      start_item(i, depth + 1);
      write(list[i], depth + 1);
    }
    if (!list.empty()) new_line(depth);
    out_ += ']';
  }

  void write_dict(const Tree::Dict& dict, int depth) {
    out_ += '{';
    for (std::size_t i = 0; i < dict.size(); ++i) {
      start_item(i, depth + 1);
      out_ += quote(dict[i].first) + (indent_ < 0 ? ":" : ": ");
      write(dict[i].second, depth + 1);
    }
    if (!dict.empty()) new_line(depth);
    out_ += '}';
  }

  void start_item(std::size_t index, int depth) {
    if (index != 0) out_ += ',';
    new_line(depth);
  }

  void new_line(int depth) {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth) * static_cast<std::size_t>(indent_), ' ');
  }

  int indent_;
  std::string out_;
};

/// Receives the events of nlohmann's SAX parser; its member names are fixed by that library.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}
  /// Shows values below so many keys before they are added.
  void show(std::size_t depth, const JsonItems& take) {
    depth_ = depth;
    take_ = &take;
  }

  bool null() { return add(Tree()); }
  bool boolean(bool value) { return add(Tree(value)); }
  bool number_integer(std::int64_t value) { return add(Tree(value)); }
  bool number_unsigned(std::uint64_t value) {
    return add(value <= INT64_MAX ? Tree(static_cast<std::int64_t>(value))
                                  : Tree(static_cast<double>(value)));
  }
  bool number_float(double value, const std::string&) { return add(Tree(value)); }
  bool string(std::string& value) { return add(Tree(std::move(value))); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // never sent for JSON text

  bool start_object(std::size_t) { return open(Tree::dict()); }
  bool start_array(std::size_t) { return open(Tree::list()); }
  bool end_array() { return close(); }
  bool end_object() {
    refuse_duplicates(open_.back().as_dict());
    return close();
  }
  bool key(std::string& name) {
    keys_.back() = std::move(name);
    return true;
  }
  [[noreturn]] bool parse_error(std::size_t position, const std::string& last_token,
                                const nlohmann::json::exception&) {
    const std::size_t end = std::min(position == 0 ? 0 : position - 1, text_.size());
    const std::string_view before = text_.substr(0, end);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto column = end - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0, for the first line
    file_error(origin_ + ":" + std::to_string(line) + ":" + std::to_string(column) +
               ": not valid JSON near " + quote(std::string_view(last_token).substr(0, 40)));
  }
  Tree take() { return std::move(result_); }

 private:
  bool open(Tree container) {
    if (open_.size() >= depth_limit)
      file_error(origin_ + ": JSON nested deeper than " + std::to_string(depth_limit) + " levels");
    open_.push_back(std::move(container));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    Tree done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(done));
  }

  bool add(Tree value) {
    if (take_ && open_.size() == depth_ && (*take_)(keys_, value)) return true;
    if (open_.empty())
      result_ = std::move(value);
    else if (open_.back().is_list())
      open_.back().push_back(std::move(value));
    else
      open_.back().as_dict().emplace_back(std::move(keys_.back()), std::move(value));
    return true;
  }

  void refuse_duplicates(const Tree::Dict& dict) const {
    std::vector<std::string_view> names;
    for (const auto& [name, entry] : dict) names.push_back(name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) file_error(origin_ + ": JSON key " + quote(*twice) + " occurs twice");
  }

  std::string_view text_;
  const std::string& origin_;
  std::vector<Tree> open_;         // the containers around the current position
  std::vector<std::string> keys_;  // the pending key of each container
  Tree result_;
  std::size_t depth_ = 0;
  const JsonItems* take_ = nullptr;
};

}  // namespace

std::string to_json(const Tree& tree, int indent) {
  JsonWriter writer(indent);
  writer.write(tree, 0);
  return writer.take();
}

Tree parse_json(std::string_view text, const std::string& origin) {
  TreeBuilder builder(text, origin);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

Tree parse_json_items(std::string_view text, const std::string& origin, std::size_t depth,
                      const JsonItems& take) {
  TreeBuilder builder(text, origin);
  builder.show(depth, take);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace mase
