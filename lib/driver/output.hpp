// SPDX-License-Identifier: Apache-2.0
// What a command prints: text and tables for people, or one JSON document, on stdout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "passes/pass.hpp"

namespace mase::driver {

/// Where a command's results go: people's text at once, or the JSON document at the end.
class Output {
 public:
  explicit Output(bool json) : json_(json) {}

  bool is_json() const { return json_; }
  void text(const std::string& text);  ///< a line or block; nothing with --json
  void table(const passes::ReportTable& table);
  Tree& document() { return document_; }  ///< what --json prints
  void finish();                          ///< prints the JSON document

  /// Stores the document and the tables that were shown as a JSON file that `mase report` reads,
  /// unless its project has no folder: {document, tables: [{title, file, header, rows}]}.
  void record(const std::string& project_folder, const std::string& name) const;

 private:
  bool json_;
  Tree document_ = Tree::dict();
  Tree tables_ = Tree::list();
};

/// Writes text to the file, or to stdout without one.
void write_or_print(const std::optional<std::string>& path, const std::string& text);

/// Error(Fault::config) when a file that is to be written is one that the command reads, under
/// whatever name; `remedy` says what else there is to do than to name another one.
void keep_inputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs,
                 const std::string& remedy = ", or let --overwrite replace it");

/// Where records lie: `<project folder>/records/<name>.json`.
std::string record_path(const std::string& project_folder, const std::string& name);

/// Progress on a terminal: one line on stderr that is redrawn; nothing when stderr is no terminal.
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
