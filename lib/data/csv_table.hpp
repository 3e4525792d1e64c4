// SPDX-License-Identifier: Apache-2.0
// A CSV file as a table of text cells, with errors that name line and column.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mase::data {

/// Fields are separated by ',', ';' or a tab (the most frequent of the first line), may be quoted
/// and are trimmed; empty lines are skipped. A first line is a header when a field other than its
/// last is no number, or when its last is called label, class or target.
class CsvTable {
 public:
  /// Error(Fault::file) for an unreadable, empty or ragged file or one with two equal column names.
  explicit CsvTable(const std::string& path);

  bool has_header() const { return has_header_; }
  const std::vector<std::string>& columns() const {
    return columns_;
  }  ///< "column 3" without header
  std::size_t rows() const { return lines_.size(); }
  std::string_view cell(std::size_t row, std::size_t column) const {
    return cells_[row * columns_.size() + column];
  }
  /// A finite number that fits float32; else Error(Fault::file) naming file, line and column.
  float number(std::size_t row, std::size_t column) const;
  /// The column with this name, ignoring case.
  std::optional<std::size_t> find(std::string_view name) const;
  /// "x.csv: line 7, column 'mass'"
  std::string place(std::size_t row, std::size_t column) const;

 private:
  void add_line(std::string_view line, std::size_t number, char separator);
  void name_columns();

  std::string path_, text_;  ///< cells point into text_
  std::vector<std::string> columns_;
  std::vector<std::string_view> cells_;
  std::vector<std::size_t> lines_;  ///< line number of each row, from 1
  bool has_header_ = false;
};

/// The column that holds the class: the one called label, class or target, else the last.
/// Error(Fault::file) when several have such names.
std::size_t class_column(const CsvTable& table, const std::string& path);

}  // namespace mase::data
