// SPDX-License-Identifier: Apache-2.0
// Reading CSV files.
#include "data/csv_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace mase::data {
namespace {

std::optional<double> to_number(std::string_view cell) {
  double value = 0;
  if (!cell.empty() && cell.front() == '+') cell.remove_prefix(1);
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::result_out_of_range) return HUGE_VAL;
  if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

/// Whether a cell would be a number with a point in place of its comma.
bool is_decimal_comma(std::string_view cell) {
  return cell.find(',') != std::string_view::npos &&
         to_number(replace_all(std::string(cell), ",", ".")).has_value();
}

/// The most frequent separator of the first line, outside of quotes.
char guess_separator(std::string_view line) {
  std::map<char, int> counts;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (!quoted) ++counts[c];
  }
  char best = ',';
  for (char c : {';', '\t'})
    if (counts[c] > counts[best]) best = c;
  return best;
}

/// Takes the text of a table apart, row by row (RFC 4180, and what programs write that is near to
/// it). Fields lie in the text itself, where a doubled quote becomes one.
class RowReader {
 public:
  RowReader(std::string& text, const std::string& path) : text_(text), path_(path) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    skip_empty_lines();
    separator_ = guess_separator(this_line());
  }

  /// Reads the next row; false at the end. `line` is that on which it begins.
  bool next(std::vector<std::string_view>& fields, std::size_t& line) {
    skip_empty_lines();
    if (at_ == text_.size()) return false;
    fields.clear();
    line = line_;
    do fields.push_back(field());
    while (accept(separator_));
    accept('\n');
    return true;
  }

 private:
  std::string_view this_line() const {
    return std::string_view(text_).substr(at_, text_.find('\n', at_) - at_);
  }
  bool accept(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    if (c == '\n') ++line_;
    ++at_;
    return true;
  }
  void skip_empty_lines() {
    while (at_ < text_.size() && trim(this_line()).empty()) {
      at_ += this_line().size();
      accept('\n');
    }
  }
  void skip_blanks() {
    constexpr std::string_view blanks = " \t\r\v\f";
    while (at_ < text_.size() && text_[at_] != separator_ &&
           blanks.find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  std::string_view field() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '"') return quoted_field();
    const char ends[] = {separator_, '\n'};
    const std::size_t first = at_;
    at_ = std::min(text_.find_first_of(ends, at_, 2), text_.size());
    return trim(std::string_view(text_).substr(first, at_ - first));
  }

  std::string_view quoted_field() {
    const std::size_t first = ++at_, opened = line_;
    std::size_t end = first;
    while (true) {
      if (at_ == text_.size()) bad(opened, "the quote of a field is never closed");
      const char c = text_[at_++];
      if (c == '"' && !accept('"')) break;
      if (c == '\n') ++line_;
      text_[end++] = c;
    }
    skip_blanks();
    if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n')
      bad(line_, "after the quote that ends a field comes '" + text_.substr(at_, 1) + "'");
    return std::string_view(text_).substr(first, end - first);
  }

  [[noreturn]] void bad(std::size_t line, const std::string& what) const {
    file_error(path_ + ": line " + std::to_string(line) + ": " + what +
               "; a quote inside of a quoted field is written twice");
  }

  std::string& text_;
  const std::string& path_;
  std::size_t at_ = 0, line_ = 1;
  char separator_ = ',';
};

}  // namespace

bool is_class_name(std::string_view name) {
  const std::string word = lower_case(name);
  return word == "label" || word == "class" || word == "target";
}

bool is_missing(std::string_view cell) {
  constexpr std::array words = {"", "na", "n/a", "nan", "null", "none", "?"};
  return std::ranges::find(words, lower_case(cell)) != words.end();
}

CsvTable::CsvTable(const std::string& path) : path_(path), text_(read_file(path)) {
  if (text_.find('\0') != std::string::npos)
    file_error(path + ": this is not a text file, and so not a CSV table");
  RowReader reader(text_, path_);
  std::vector<std::string_view> fields;
  for (std::size_t line = 0; reader.next(fields, line);) add_row(fields, line);
  if (lines_.empty()) file_error(path + ": the file is empty");
  name_columns();
  if (lines_.empty()) file_error(path + ": there is a header but no rows");
}

void CsvTable::add_row(const std::vector<std::string_view>& fields, std::size_t number) {
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
    if (!is_missing(cells_[i]) && !to_number(cells_[i])) has_header_ = true;
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
  const std::string word = lower_case(text);
  if (word == "true" || word == "false") return word == "true" ? 1.0F : 0.0F;
  const auto value = to_number(text);
  if (!value)
    file_error(place(row, column) + ": '" + std::string(text.substr(0, 40)) + "' is not a number" +
               (is_decimal_comma(text) ? "; write decimals with a point"
                                       : "; leave the column out, or make columns of 0 and 1 of "
                                         "its words (pandas.get_dummies)"));
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

std::size_t column_named(const CsvTable& table, const std::string& name, const std::string& path) {
  if (const auto found = table.find(name)) return *found;
  const std::size_t width = table.columns().size();
  const auto number = parse_int(name);
  if (number && *number >= 1 && *number <= static_cast<std::int64_t>(width))
    return static_cast<std::size_t>(*number - 1);
  file_error(
      path + ": there is no column '" + name + "'" +
      did_you_mean(name, table.columns(), "; the columns are " + join(table.columns(), ", ")));
}

std::optional<std::size_t> named_class_column(const CsvTable& table, const std::string& path) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; table.has_header() && i < table.columns().size(); ++i) {
    if (!is_class_name(table.columns()[i])) continue;
    if (found)
      file_error(path + ": both '" + table.columns()[*found] + "' and '" + table.columns()[i] +
                 "' could be the class column; rename one");
    found = i;
  }
  return found;
}

std::size_t class_column(const CsvTable& table, const std::string& path) {
  return named_class_column(table, path).value_or(table.columns().size() - 1);
}

}  // namespace mase::data
