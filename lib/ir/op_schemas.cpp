// SPDX-License-Identifier: Apache-2.0
// Parses the lines of op_schemas.inc when they are asked for.
#include "ir/op_schemas.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <mutex>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::ir {
namespace {

constexpr std::string_view lines[] = {
#include "ir/op_schemas.inc"
};

/// Reads one line from its front.
class SchemaReader {
 public:
  explicit SchemaReader(std::string_view line) : rest_(line) {}

  OpSchema read() {
    OpSchema schema;
    schema.op = "aten::" + std::string(until('('));
    bool keyword_only = false;
    while (!take(")")) {
      if (take("*")) {
        keyword_only = true;
      } else {
        SchemaArgument argument;
        read_type(argument, &argument.list_size);
        MASE_CHECK(take(" "), "a signature names its arguments");
        argument.name = until_any(",)=");
        argument.keyword_only = keyword_only;
        argument.has_default = take("=");
        if (argument.has_default) argument.fallback = read_default(argument);
        schema.arguments.push_back(std::move(argument));
      }
      take(", ");
    }
    MASE_CHECK(take(" -> "), "a signature has results");
    const bool several = take("(");
    while (!rest_.empty() && rest_ != ")") {
      read_type(schema.results.emplace_back(), nullptr);
      if (take(" ")) until_any(",)");
      if (!take(", ") && !several) break;
    }
    return schema;
  }

 private:
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  std::string_view until_any(std::string_view ends) {
    const std::size_t end = std::min(rest_.find_first_of(ends), rest_.size());
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return text;
  }

  std::string_view until(char end) {
    const std::string_view text = until_any({&end, 1});
    rest_.remove_prefix(1);
    return text;
  }

  /// "Tensor(a!)", "Tensor(a)[]", "SymInt[2]", "Tensor?[]".
  void read_type(SchemaPart& part, int* list_size) {
    part.type = until_any("(?[ ,)");
    while (true) {
      if (take("(")) {
        const std::string_view alias = until(')');
        part.changes = alias.find('!') != std::string_view::npos;
        part.alias = alias.substr(0, alias.find_first_of("! "));
      } else if (take("?")) {
        part.type += "?";
      } else if (take("[")) {
        const std::string_view size = until(']');
        if (list_size) std::from_chars(size.data(), size.data() + size.size(), *list_size);
        part.type += "[]";
      } else {
        return;
      }
    }
  }

  Value read_default(const SchemaArgument& argument) {
    if (!take("[")) return one(until_default(), argument);
    Value::List items;
    while (!take("]")) {
      items.push_back(one(until_any(",]"), argument));
      take(", ");
    }
    return Value::list(std::move(items));
  }

  std::string_view until_default() {
    if (!rest_.starts_with('"')) return until_any(",)");
    const std::size_t end = rest_.find('"', 1) + 1;
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return text;
  }

  static Value one(std::string_view text, const SchemaArgument& argument) {
    if (text == "None") return {};
    if (text == "True" || text == "False") return text == "True";
    if (text.starts_with('"')) return std::string(text.substr(1, text.size() - 2));
    if (text == "contiguous_format") return 0;
    if (text == "inf") return std::numeric_limits<double>::infinity();
    const bool floating = argument.type.starts_with("float");
    std::int64_t integer = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && !floating) return integer;
    double number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    MASE_CHECK(parsed.ec == std::errc(), "a default is not known: " + std::string(text));
    return number;
  }

  std::string_view rest_;
};

std::string_view name_of(std::string_view line) { return line.substr(0, line.find('(')); }

}  // namespace

const SchemaArgument* OpSchema::find(std::string_view name) const {
  const auto found = std::ranges::find(arguments, name, &SchemaArgument::name);
  return found == arguments.end() ? nullptr : &*found;
}

const std::vector<std::string_view>& schema_lines() {
  static const std::vector<std::string_view> sorted(std::begin(lines), std::end(lines));
  return sorted;
}

const OpSchema* find_schema(std::string_view op) {
  if (!op.starts_with("aten::")) return nullptr;
  op.remove_prefix(6);
  static std::map<std::string_view, OpSchema> parsed;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto line = std::ranges::lower_bound(schema_lines(), op, {}, name_of);
  if (line == schema_lines().end() || name_of(*line) != op) return nullptr;
  const auto [entry, added] = parsed.try_emplace(name_of(*line));
  if (added) entry->second = SchemaReader(*line).read();
  return &entry->second;
}

}  // namespace mase::ir
