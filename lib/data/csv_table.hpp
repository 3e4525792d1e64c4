// SPDX-License-Identifier: Apache-2.0
// A CSV file as a table of text cells, with errors that name line and column.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mase::data {

/// A CSV table. Fields are separated by ',', ';' or a tab (the most frequent in the first line) and
/// trimmed; in quotes they may have separators and new lines. Empty lines are skipped. The first
/// line is a header when a field before its last is not a number, or when its last field is label,
/// class or target.
class CsvTable {
 public:
  /// Reads a file; Error(Fault::file) when it is unreadable, empty or ragged, or repeats a name.
  explicit CsvTable(const std::string& path);

  bool has_header() const { return has_header_; }
  const std::vector<std::string>& columns() const {
    return columns_;
  }  ///< "column 3" without header
  std::size_t rows() const { return lines_.size(); }
  std::string_view cell(std::size_t row, std::size_t column) const {
    return cells_[row * columns_.size() + column];
  }
  /// A cell as a finite float32 number; true and false are 1 and 0; otherwise Error(Fault::file)
  /// names file, line and column.
  float number(std::size_t row, std::size_t column) const;
  /// The column with this name, regardless of case.
  std::optional<std::size_t> find(std::string_view name) const;
  /// "x.csv: line 7, column 'mass'"
  std::string place(std::size_t row, std::size_t column) const;

 private:
  void add_row(const std::vector<std::string_view>& fields, std::size_t line);
  void name_columns();

  std::string path_, text_;  ///< cells point into text_
  std::vector<std::string> columns_;
  std::vector<std::string_view> cells_;
  std::vector<std::size_t> lines_;  ///< line number of each row, counted from 1
  bool has_header_ = false;
};

/// The column with this name, or with this number, counted from 1. Error(Fault::file) names all.
std::size_t column_named(const CsvTable& table, const std::string& name, const std::string& path);

/// The column named label, class or target; nullopt if there is none, Error(Fault::file) if there
/// are several.
std::optional<std::size_t> named_class_column(const CsvTable& table, const std::string& path);

/// Whether a cell says that its value is not known: "", NA, N/A, NaN, null, None or "?".
bool is_missing(std::string_view cell);

/// Whether a column of this name has the class: label, class or target, in small letters or not.
bool is_class_name(std::string_view name);

/// The column of the class: the one named label, class or target, otherwise the last column.
/// Error(Fault::file) when several columns have such a name.
std::size_t class_column(const CsvTable& table, const std::string& path);

}  // namespace mase::data
