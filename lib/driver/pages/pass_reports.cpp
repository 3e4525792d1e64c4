// SPDX-License-Identifier: Apache-2.0
// Shows pass reports for the commands that run passes.
#include "driver/pages/pass_reports.hpp"

#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "driver/all_passes.hpp"
#include "report/table.hpp"

namespace mase::driver {

namespace {

std::string as_lines(const std::string& text) { return text.ends_with('\n') ? text : text + "\n"; }

/// What was measured around the pass, for people.
std::string measured_text(const passes::PassReport& report, bool timing) {
  std::string text;
  if (timing) text += report.name + ": " + fixed_text(report.seconds * 1e3, 2) + " ms\n";
  if (report.max_difference)
    text +=
        report.name + ": results changed by at most " + double_text(*report.max_difference) + "\n";
  return text;
}

bool only_changes_the_graph(const passes::PassReport& report) {
  const passes::PassRow* row = passes::find_pass(all_passes(), report.name);
  return row && row->doc.kind == passes::PassKind::transform;
}

/// What fits in a line, or all if the pass has no headline.
std::string short_text(const passes::PassReport& report) {
  const passes::Result& result = report.result;
  const std::string name = report.name + ": ";
  if (!result.headline.empty()) return name + result.headline + "\n";
  if (!result.tables.empty() || result.text.size() > 1) return report_text(report, false);
  if (result.text.empty() && !only_changes_the_graph(report)) return "";
  if (result.text.empty())
    return name + (result.changed ? "changed the graph\n" : "nothing to change\n");
  const std::string& text = result.text.front();
  return text.find('\n') == text.npos ? name + text + "\n" : report_text(report, false);
}

std::string shown_text(const passes::PassReport& report, const Detail& detail) {
  if (detail.verbose) return report_text(report, detail.timing);
  const bool said = !detail.quiet || !only_changes_the_graph(report);
  return (said ? short_text(report) : "") + measured_text(report, detail.timing);
}

}  // namespace

std::string report_text(const passes::PassReport& report, bool timing) {
  std::string all = "\n[" + report.name + "]\n";
  for (const std::string& text : report.result.text) all += as_lines(text);
  for (const passes::ReportTable& table : report.result.tables) all += as_lines(table_text(table));
  return all + measured_text(report, timing);
}

void show_report(const passes::PassReport& report, const std::string& folder, const Detail& detail,
                 Output& output) {
  if (const std::string text = shown_text(report, detail); !text.empty()) output.text(text);
  for (const passes::ReportTable& table : report.result.tables) {
    output.keep(table);
    if (!table.file.empty())
      write_file(folder + "/" + table.file, report::csv(table.header, table.rows));
  }
  for (const std::string& note : report.result.notes) log::warning(report.name + ": " + note);
  for (const std::string& detail : report.result.details) log::debug(report.name + ": " + detail);
}

Tree report_tree(passes::PassReport report, bool timing) {
  Tree entry = Tree::dict();
  entry["pass"] = report.name;
  entry["changed"] = report.result.changed;
  entry["info"] = std::move(report.result.info);
  entry["notes"] = Tree::list_of(report.result.notes);
  if (!report.result.details.empty()) entry["details"] = Tree::list_of(report.result.details);
  if (timing) entry["seconds"] = report.seconds;
  if (report.max_difference) entry["max_difference"] = *report.max_difference;
  return entry;
}

}  // namespace mase::driver
