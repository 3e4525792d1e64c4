// SPDX-License-Identifier: Apache-2.0
// Reads one option from a Tree, with a full explanation when the value does not fit, and documents
// it.
#include "base/field.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace mase {
namespace {

/// A bound as people write it, whole numbers without a point: 0, 1.5, 1e-05.
std::string number_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fixed_text(value, 0);
  return double_text(value);
}

std::string range_text(double low, double high) {
  if (std::isinf(low) && std::isinf(high)) return "";
  if (std::isinf(high)) return ">= " + number_text(low);
  if (std::isinf(low)) return "<= " + number_text(high);
  return number_text(low) + " .. " + number_text(high);
}

std::string scalar_text(const Tree& tree) {
  if (tree.is_string()) return quote(tree.as_string());
  if (tree.is_double()) return double_text(tree.as_double());
  if (tree.is_int()) return std::to_string(tree.as_int());
  return tree.is_bool() ? (tree.as_bool() ? "true" : "false") : std::string(tree.kind_name());
}

std::vector<std::string> choices_of(const FieldRules& rules) {
  return {rules.choices.begin(), rules.choices.begin() + rules.choice_count};
}

std::string option(std::string_view key) { return "option '" + std::string(key) + "'"; }

bool refuse(const Tree& tree, std::string_view key, const std::string& allowed,
            Diagnostics& diagnostics) {
  diagnostics.error(tree.where, option(key) + " is " + scalar_text(tree) + "; allowed: " + allowed);
  return false;
}

/// NaN fails every comparison, so the condition is written to hold only for good values.
bool check_range(const Tree& tree, std::string_view key, const FieldRules& rules,
                 Diagnostics& diagnostics) {
  const double value = tree.as_double();
  if (value >= rules.low && value <= rules.high) return true;
  std::string allowed = range_text(rules.low, rules.high);
  if (allowed.empty()) allowed = "any number but nan";
  return refuse(tree, key, allowed, diagnostics);
}

bool check_choice(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics) {
  if (rules.choice_count == 0) return true;
  const std::vector<std::string> choices = choices_of(rules);
  const std::string value = tree.is_string() ? tree.as_string() : scalar_text(tree);
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return true;
  std::string allowed = join(choices, " | ");
  if (const auto near = nearest(value, choices)) allowed += "; did you mean " + quote(*near) + "?";
  return refuse(tree, key, allowed, diagnostics);
}

}  // namespace

std::string FieldInfo::bounds_text() const {
  if (!choices.empty()) return join(choices, " | ");
  constexpr double none = std::numeric_limits<double>::infinity();
  return range_text(low.value_or(-none), high.value_or(none));
}

void report_unknown_key(const Tree& entry, std::string_view key,
                        const std::vector<std::string>& allowed, Diagnostics& diagnostics) {
  if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) return;
  constexpr std::size_t most_listed = 12;
  const bool listed = !allowed.empty() && allowed.size() <= most_listed;
  const bool has_key_place = entry.key_where.line != 0;
  diagnostics.error(
      has_key_place ? entry.key_where : entry.where,
      "unknown " + option(key) +
          did_you_mean(key, allowed, listed ? "; allowed: " + join(allowed, ", ") : ""));
}

namespace field_detail {

bool is_none(const Tree& tree) {
  return tree.is_null() || (tree.is_string() && tree.as_string() == "NA");
}

void wrong_type(const Tree& tree, std::string_view key, std::string_view wanted,
                Diagnostics& diagnostics) {
  const bool vowel = wanted.starts_with('a') || wanted.starts_with('i');
  const std::string got =
      tree.is_string() && is_none(tree) ? "\"NA\"" : std::string(tree.kind_name());
  diagnostics.error(tree.where, option(key) + " must be " + (vowel ? "an " : "a ") +
                                    std::string(wanted) + ", got " + got);
}

bool read_value(const Tree& tree, std::string_view key, const FieldRules& rules, bool& out,
                Diagnostics& diagnostics) {
  // The reference system's files have 0 and 1.
  const bool is_digit = tree.is_int() && (tree.as_int() == 0 || tree.as_int() == 1);
  if (!tree.is_bool() && !is_digit) {
    wrong_type(tree, key, "bool", diagnostics);
    return false;
  }
  if (!is_digit && !check_choice(tree, key, rules, diagnostics)) return false;
  out = is_digit ? tree.as_int() == 1 : tree.as_bool();
  return true;
}

bool read_value(const Tree& tree, std::string_view key, const FieldRules& rules, std::int64_t& out,
                Diagnostics& diagnostics) {
  if (!tree.is_int()) {
    wrong_type(tree, key, "integer", diagnostics);
    return false;
  }
  if (!check_range(tree, key, rules, diagnostics) || !check_choice(tree, key, rules, diagnostics))
    return false;
  out = tree.as_int();
  return true;
}

/// Reads an int as an int64 that must also be within the bounds of int.
bool read_value(const Tree& tree, std::string_view key, const FieldRules& rules, int& out,
                Diagnostics& diagnostics) {
  FieldRules narrow = rules;
  if (tree.is_int() && (tree.as_int() < INT32_MIN || tree.as_int() > INT32_MAX)) {
    narrow.low = std::max<double>(rules.low, INT32_MIN);
    narrow.high = std::min<double>(rules.high, INT32_MAX);
  }
  std::int64_t wide = 0;
  if (!read_value(tree, key, narrow, wide, diagnostics)) return false;
  out = static_cast<int>(wide);
  return true;
}

bool read_value(const Tree& tree, std::string_view key, const FieldRules& rules, double& out,
                Diagnostics& diagnostics) {
  if (!tree.is_number()) {
    wrong_type(tree, key, "number", diagnostics);
    return false;
  }
  if (!check_range(tree, key, rules, diagnostics) || !check_choice(tree, key, rules, diagnostics))
    return false;
  out = tree.as_double();
  return true;
}

bool read_value(const Tree& tree, std::string_view key, const FieldRules& rules, std::string& out,
                Diagnostics& diagnostics) {
  if (!tree.is_string()) {
    wrong_type(tree, key, "string", diagnostics);
    return false;
  }
  if (!rules.old_choice.empty() && tree.as_string() == rules.old_choice) {
    out = rules.new_choice;
    return true;
  }
  for (const std::string& choice : choices_of(rules))
    if (choice == lower_case(tree.as_string())) {  // "TPE"
      out = choice;
      return true;
    }
  if (!check_choice(tree, key, rules, diagnostics)) return false;
  out = tree.as_string();
  return true;
}

std::vector<std::string> names(AnyFields fields) {
  std::vector<std::string> found;
  for (const AnyField& field : fields) found.emplace_back(field.name);
  return found;
}

void read(AnyFields fields, const Tree& table, void* options, Diagnostics& diagnostics,
          const std::vector<std::string>& other_keys) {
  if (!table.is_dict()) {
    wrong_type(table, "options", "table", diagnostics);
    return;
  }
  std::vector<std::string> allowed = names(fields);
  allowed.insert(allowed.end(), other_keys.begin(), other_keys.end());
  for (const auto& [key, entry] : table.as_dict())
    report_unknown_key(entry, key, allowed, diagnostics);
  for (const AnyField& field : fields)
    if (const Tree* entry = table.find(field.name)) field.read(field, *entry, options, diagnostics);
}

Tree write(AnyFields fields, const void* options) {
  Tree out = Tree::dict();
  for (const AnyField& field : fields) out[field.name] = field.write(field, options);
  return out;
}

namespace {

FieldInfo info_of(const AnyField& field, const Tree& fallback) {
  const FieldRules& rules = *field.rules;
  FieldInfo info;
  info.name = field.name;
  info.type = field.type();
  info.optional = field.optional;
  info.default_value = fallback.is_list() ? to_json(fallback, -1) : scalar_text(fallback);
  if (fallback.is_string() && is_none(fallback)) info.default_value = "NA";
  if (!std::isinf(rules.low)) info.low = rules.low;
  if (!std::isinf(rules.high)) info.high = rules.high;
  info.choices = choices_of(rules);
  info.rare = rules.rare;
  info.target = rules.target;
  info.doc = field.doc;
  return info;
}

}  // namespace

std::vector<FieldInfo> describe(AnyFields fields, const void* defaults) {
  std::vector<FieldInfo> infos;
  for (const AnyField& field : fields)
    infos.push_back(info_of(field, field.write(field, defaults)));
  return infos;
}

}  // namespace field_detail
}  // namespace mase
