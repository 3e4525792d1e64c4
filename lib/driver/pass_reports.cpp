// SPDX-License-Identifier: Apache-2.0
// Shows pass reports for the commands that run passes.
#include "driver/pass_reports.hpp"

#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "report/table.hpp"

namespace mase::driver {

void show_report(const passes::PassReport& report, const std::string& folder, bool timing,
                 Output& output) {
  output.text("\n[" + report.name + "]");
  for (const std::string& text : report.result.text) output.text(text);
  for (const passes::ReportTable& table : report.result.tables) {
    output.table(table);
    if (!table.file.empty())
      write_file(folder + "/" + table.file, report::csv(table.header, table.rows));
  }
  for (const std::string& note : report.result.notes) log::warning(report.name + ": " + note);
  for (const std::string& detail : report.result.details) log::debug(report.name + ": " + detail);
  if (timing) output.text(report.name + ": " + fixed_text(report.seconds * 1e3, 2) + " ms");
  if (report.max_difference)
    output.text(report.name + ": results changed by at most " +
                double_text(*report.max_difference));
}

Tree report_tree(const passes::PassReport& report, bool timing) {
  Tree entry = Tree::dict();
  entry["pass"] = report.name;
  entry["changed"] = report.result.changed;
  entry["info"] = report.result.info;
  entry["notes"] = Tree::list_of(report.result.notes);
  if (!report.result.details.empty()) entry["details"] = Tree::list_of(report.result.details);
  if (timing) entry["seconds"] = report.seconds;
  if (report.max_difference) entry["max_difference"] = *report.max_difference;
  return entry;
}

}  // namespace mase::driver
