// SPDX-License-Identifier: Apache-2.0
// The output of a command on stdout: text and tables for people, or one JSON document.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "passes/pass.hpp"

namespace mase::driver {

/// Collects a command's results: prints text at once, or the JSON document at the end.
class Output {
 public:
  explicit Output(bool json) : json_(json) {}

  bool is_json() const { return json_; }
  void text(const std::string& text);  ///< prints a line or block, but nothing with --json
  void table(const passes::ReportTable& table);  ///< prints a table and keeps it
  void keep(const passes::ReportTable& table);   ///< only keeps the table for the record
  Tree& document() { return document_; }         ///< what --json prints
  void finish();                                 ///< prints the JSON document

  /// Stores the document and the tables in a JSON file for `mase report`, unless the project
  /// has no folder: {document, tables: [{title, file, header, rows}]}.
  void record(const std::string& project_folder, const std::string& name) const;

 private:
  bool json_;
  Tree document_ = Tree::dict();
  Tree tables_ = Tree::list();
};

/// The table under its title, as people read it.
std::string table_text(const passes::ReportTable& table);

/// Writes text to the file, or to stdout if no file is given.
void write_or_print(const std::optional<std::string>& path, const std::string& text);

/// Error(Fault::config) if an output is the same file as one of the inputs, even under another
/// name. `remedy` is appended to the advice to name another file.
void keep_inputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs,
                 const std::string& remedy = ", or let --overwrite replace it");

/// The path of a record: `<project folder>/records/<name>.json`.
std::string record_path(const std::string& project_folder, const std::string& name);

/// A progress line that is redrawn on stderr. It shows nothing if stderr is not a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool enabled);
  ~ProgressLine();
  void show(const std::string& text);
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
};

/// "12 s", "3 min 5 s".
std::string duration_text(double seconds);

}  // namespace mase::driver
