// SPDX-License-Identifier: Apache-2.0
// Results go to stdout, messages and progress to stderr.
#include "driver/output.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/standard_output.hpp"
#include "report/table.hpp"

namespace mase::driver {
namespace {

/// Whether stderr is a terminal that can return to the start of a line and clear it.
bool can_rewrite_lines() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) && std::string_view(terminal ? terminal : "") != "dumb";
}

}  // namespace

void Output::text(const std::string& text) {
  if (json_) return;
  print(text.empty() || text.back() != '\n' ? text + '\n' : text);
}

void Output::keep(const passes::ReportTable& table) {
  Tree kept = Tree::dict();
  kept["title"] = table.title;
  kept["file"] = table.file;
  kept["header"] = Tree::list_of(table.header);
  kept["rows"] = Tree::list();
  for (const auto& row : table.rows) kept["rows"].push_back(Tree::list_of(row));
  tables_.push_back(std::move(kept));
}

std::string table_text(const passes::ReportTable& table) {
  return "\n" + table.title + "\n" + report::boxed(table.header, table.rows);
}

void Output::table(const passes::ReportTable& table) {
  keep(table);
  if (!json_) text(table_text(table));
}

void Output::finish() {
  if (!json_) return;
  print(to_json(document_) + '\n');
}

void write_or_print(const std::optional<std::string>& path, const std::string& text) {
  if (path)
    write_file(*path, text);
  else
    Output(false).text(text);
}

void keep_inputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs,
                 const std::string& remedy) {
  for (const std::string& output : outputs)
    for (const std::string& input : inputs)
      if (same_file(output, input))
        config_error("'" + output + "' is read by this command" +
                     (output == input ? "" : " (as '" + input + "')") + "; name another file" +
                     remedy);
}

std::string record_path(const std::string& project_folder, const std::string& name) {
  return project_folder + "/records/" + name + ".json";
}

void Output::record(const std::string& project_folder, const std::string& name) const {
  if (!std::filesystem::is_directory(project_folder)) return;
  make_folder(project_folder + "/records");
  Tree record = Tree::dict();
  record["document"] = document_;
  record["tables"] = tables_;
  write_file(record_path(project_folder, name), to_json(record) + "\n");
}

ProgressLine::ProgressLine(bool enabled) : enabled_(enabled && can_rewrite_lines()) {}
ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const std::string& text) {
  if (!enabled_) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

std::string duration_text(double seconds) {
  const auto total = std::lround(seconds);
  if (total < 60) return std::to_string(total) + " s";
  return std::to_string(total / 60) + " min " + std::to_string(total % 60) + " s";
}

}  // namespace mase::driver
