// SPDX-License-Identifier: Apache-2.0
// Reading CSV files.
#include "data/csv_table.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace mase::data {
namespace {

bool is_class_name(std::string_view name) {
  const std::string word = lower_case(name);
  return word == "label" || word == "class" || word == "target";
}

std::optional<double> to_number(std::string_view cell) {
  double value = 0;
  if (!cell.empty() && cell.front() == '+') cell.remove_prefix(1);
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::result_out_of_range) return HUGE_VAL;
  if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

char guess_separator(std::string_view line) {
  const auto count = [&](char c) { return std::count(line.begin(), line.end(), c); };
  char best = ',';
  for (char c : {';', '\t'})
    if (count(c) > count(best)) best = c;
  return best;
}

std::string_view unquote(std::string_view field) {
  field = trim(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = field.substr(1, field.size() - 2);
  return field;
}

/// Splits at separators outside of quotes.
std::vector<std::string_view> fields_of(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] != separator || quoted) continue;
    fields.push_back(unquote(line.substr(begin, i - begin)));
    begin = i + 1;
  }
  fields.push_back(unquote(line.substr(begin)));
  return fields;
}

}  // namespace

CsvTable::CsvTable(const std::string& path) : path_(path), text_(read_file(path)) {
  if (text_.find('\0') != std::string::npos)
    file_error(path + ": this is not a text file, and so not a CSV table");
  std::string_view rest = text_;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  char separator = 0;
  for (std::size_t line_number = 1; !rest.empty(); ++line_number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) continue;
    if (separator == 0) separator = guess_separator(line);
    add_line(line, line_number, separator);
  }
  if (lines_.empty()) file_error(path + ": the file is empty");
  name_columns();
  if (lines_.empty()) file_error(path + ": there is a header but no rows");
}

void CsvTable::add_line(std::string_view line, std::size_t number, char separator) {
  const auto fields = fields_of(line, separator);
  if (columns_.empty()) columns_.assign(fields.size(), "");
  if (fields.size() != columns_.size())
    file_error(path_ + ": line " + std::to_string(number) + " has " +
               std::to_string(fields.size()) + " fields, but the lines before have " +
               std::to_string(columns_.size()));
  cells_.insert(cells_.end(), fields.begin(), fields.end());
  lines_.push_back(number);
}

void CsvTable::name_columns() {
  const std::size_t width = columns_.size();
  has_header_ = is_class_name(cells_[width - 1]);
  for (std::size_t i = 0; i + 1 < width; ++i)
    // An empty field is a missing value, not a name.
    if (!cells_[i].empty() && !to_number(cells_[i])) has_header_ = true;
  std::set<std::string> names;
  for (std::size_t i = 0; i < width; ++i) {
    columns_[i] = has_header_ ? std::string(cells_[i]) : "column " + std::to_string(i + 1);
    if (!names.insert(columns_[i]).second)
      file_error(path_ + ": two columns are called '" + columns_[i] + "'");
  }
  if (!has_header_) return;
  cells_.erase(cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(width));
  lines_.erase(lines_.begin());
}

float CsvTable::number(std::size_t row, std::size_t column) const {
  const std::string_view text = cell(row, column);
  const auto value = to_number(text);
  if (!value)
    file_error(place(row, column) + ": '" + std::string(text.substr(0, 40)) + "' is not a number");
  const auto rounded = static_cast<float>(*value);
  if (!std::isfinite(rounded))
    file_error(place(row, column) + ": " + std::string(text.substr(0, 40)) +
               " is not a finite float32 number; features must be finite");
  return rounded;
}

std::optional<std::size_t> CsvTable::find(std::string_view name) const {
  if (!has_header_) return std::nullopt;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (lower_case(columns_[i]) == lower_case(name)) return i;
  return std::nullopt;
}

std::string CsvTable::place(std::size_t row, std::size_t column) const {
  return path_ + ": line " + std::to_string(lines_[row]) + ", " +
         (has_header_ ? "column '" + columns_[column] + "'" : columns_[column]);
}

std::size_t class_column(const CsvTable& table, const std::string& path) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; table.has_header() && i < table.columns().size(); ++i) {
    if (!is_class_name(table.columns()[i])) continue;
    if (found)
      file_error(path + ": both '" + table.columns()[*found] + "' and '" + table.columns()[i] +
                 "' could be the class column; rename one");
    found = i;
  }
  return found.value_or(table.columns().size() - 1);
}

}  // namespace mase::data
