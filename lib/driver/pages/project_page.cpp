// SPDX-License-Identifier: Apache-2.0
// The page has one section per record, with figures and tables. Records are files that anybody may
// have changed, so their contents are not trusted.
#include "driver/pages/project_page.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.hpp"
#include "report/chart.hpp"
#include "report/html_page.hpp"

namespace mase::driver {
namespace {

using report::axis_over;
using report::Bar;
using report::Chart;
using report::escaped;
using report::HeatMap;
using report::html_figure;
using report::html_key;
using report::html_table;
using report::Mark;

constexpr std::size_t most_rows = 2000, most_heat_rows = 80;

/// A table of a record; empty if the record is damaged.
struct Table {
  std::string title, file;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

std::string text_of(const Tree* tree) { return tree && tree->is_string() ? tree->as_string() : ""; }

std::vector<std::string> texts_of(const Tree* tree) {
  std::vector<std::string> texts;
  if (tree && tree->is_list())
    for (const Tree& item : tree->as_list()) texts.push_back(text_of(&item));
  return texts;
}

std::vector<Table> tables_of(const Tree& record) {
  std::vector<Table> tables;
  const Tree* all = record.find("tables");
  if (!all || !all->is_list()) return tables;
  for (const Tree& tree : all->as_list()) {
    if (!tree.is_dict()) continue;
    Table table{
        text_of(tree.find("title")), text_of(tree.find("file")), texts_of(tree.find("header")), {}};
    const Tree* rows = tree.find("rows");
    if (rows && rows->is_list())
      for (const Tree& row : rows->as_list()) {
        table.rows.push_back(texts_of(&row));
        table.rows.back().resize(table.header.size());
      }
    tables.push_back(std::move(table));
  }
  return tables;
}

std::optional<double> number_of(const Tree* tree) {
  if (!tree || !tree->is_number()) return std::nullopt;
  return tree->as_double();
}

std::string table_html(const Table& table) {
  std::vector<std::vector<std::string>> rows = table.rows;
  std::string note;
  if (rows.size() > most_rows) {
    note = "<p>The first " + std::to_string(most_rows) + " of " + std::to_string(rows.size()) +
           " rows.</p>\n";
    rows.resize(most_rows);
  }
  const std::string title = table.title.empty() ? "" : "<h3>" + escaped(table.title) + "</h3>\n";
  return title + note + html_table(table.header, rows, "sortable");
}

// Training.

/// The values of a key, one per epoch.
std::vector<Mark> curve(const Tree& epochs, const std::string& key) {
  std::vector<Mark> marks;
  for (const Tree& epoch : epochs.as_list()) {
    const auto x = epoch.is_dict() ? number_of(epoch.find("epoch")) : std::nullopt;
    const auto y = epoch.is_dict() ? number_of(epoch.find(key)) : std::nullopt;
    if (x && y) marks.push_back({*x, *y, "epoch " + double_text(*x) + ": " + double_text(*y)});
  }
  return marks;
}

std::vector<double> values_of(const std::vector<Mark>& marks, double Mark::*axis) {
  std::vector<double> values;
  for (const Mark& mark : marks) values.push_back(mark.*axis);
  return values;
}

/// One or two curves over the epochs. The second is for the validation rows.
std::string curves(const std::string& what, const std::vector<Mark>& training,
                   const std::vector<Mark>& validation) {
  std::vector<Mark> both = training;
  both.insert(both.end(), validation.begin(), validation.end());
  if (both.empty()) return "";
  Chart chart(what + " by epoch", axis_over("epoch", values_of(both, &Mark::x), true),
              axis_over(what, values_of(both, &Mark::y)));
  chart.line("feasible", training);
  chart.line("best", validation);
  chart.dots("best", validation);
  const std::string legend = training.empty() ? "" : html_key("feasible", "training");
  return html_figure(what, "<p class=\"legend\">" + legend + html_key("best", "validation") +
                               "</p>\n" + chart.svg());
}

/// The figures of the validation rows in the first epoch, in the order of the task.
std::vector<std::string> validated_figures(const Tree& epochs) {
  constexpr std::string_view prefix = "validation_";
  std::vector<std::string> names;
  if (epochs.size() == 0 || !epochs.as_list().front().is_dict()) return names;
  for (const auto& entry : epochs.as_list().front().as_dict())
    if (entry.first.starts_with(prefix)) names.push_back(entry.first.substr(prefix.size()));
  return names;
}

std::string training_figures(const Tree& document) {
  const Tree* epochs = document.find("epochs");
  if (!epochs || !epochs->is_list()) return "";
  std::string html;
  for (const std::string& name : validated_figures(*epochs))
    html += curves(name, curve(*epochs, "train_" + name), curve(*epochs, "validation_" + name));
  return html;
}

// Tables of numbers as heat maps.

/// A heat map of nodes by ports, shaded from the smallest number of the table to the largest.
std::string heat_table(const Table& table) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  const auto number = [](const std::string& cell) { return parse_double(cell); };
  for (const auto& row : table.rows)
    for (std::size_t c = 1; c < row.size(); ++c)
      if (const auto value = number(row[c]); value && std::isfinite(*value)) {
        low = std::min(low, *value);
        high = std::max(high, *value);
      }
  HeatMap map{table.title, {table.header.begin() + 1, table.header.end()}, {}, {}};
  for (const auto& row : table.rows) {
    map.rows.push_back(row[0]);
    map.cells.emplace_back();
    for (std::size_t c = 1; c < row.size(); ++c) {
      const auto value = number(row[c]);
      std::optional<double> shade;
      if (value && std::isfinite(*value)) shade = high > low ? (*value - low) / (high - low) : 0.5;
      map.cells.back().push_back({row[c], row[0] + ", " + table.header[c] + ": " + row[c], shade});
    }
  }
  return html_figure(table.title + " (light: smallest, dark: largest)", heat_map(map));
}

bool is_heat_table(const Table& table) {
  const bool by_node = !table.header.empty() && table.header[0] == "Node";
  const bool confusion = table.title.starts_with("Confusion");
  return (by_node || confusion) && table.header.size() > 1 && !table.rows.empty() &&
         table.rows.size() <= most_heat_rows;
}

// Hardware.

std::optional<std::size_t> column(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.header, name);
  if (found == table.header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.header.begin());
}

/// A bar chart of one column: each layer's share of the number in the row "total".
std::string shares(const Table& table, const std::string& name, const std::string& caption) {
  const auto place = column(table, name);
  if (!place || table.rows.empty()) return "";
  const auto total = parse_double(table.rows.back()[*place]);
  if (!total || *total <= 0) return "";
  std::vector<Bar> bars;
  for (std::size_t r = 0; r + 1 < table.rows.size(); ++r)
    if (const auto value = parse_double(table.rows[r][*place]); value && *value > 0)
      bars.push_back({table.rows[r][0], *value / *total});
  return html_figure(caption, bar_chart(caption, bars));
}

std::string hardware_figures(const Table& table) {
  if (table.header.empty() || table.header[0] != "Layer") return "";
  return shares(table, "Interval", "Cycles per frame of each layer, against the interval") +
         shares(table, "LUT", "LUTs by layer") + shares(table, "DSP", "DSP blocks by layer") +
         shares(table, "BRAM", "RAMB36 blocks by layer");
}

/// A histogram of the frames by latency under stalls, from the record of a simulation.
std::string latency_figure(const Tree& document) {
  const Tree* simulation = document.find("simulation");
  const Tree* histogram =
      simulation && simulation->is_dict() ? simulation->find("latency_histogram") : nullptr;
  if (!histogram || !histogram->is_dict()) return "";
  const auto least = number_of(histogram->find("least")),
             width = number_of(histogram->find("width"));
  const Tree* frames = histogram->find("frames");
  if (!least || !width || !frames || !frames->is_list()) return "";
  double all = 0;
  for (const Tree& count : frames->as_list()) all += number_of(&count).value_or(0);
  std::vector<Bar> bars;
  for (const Tree& count : frames->as_list()) {
    const double from = *least + *width * static_cast<double>(bars.size());
    const std::string to = *width > 1 ? " to " + fixed_text(from + *width - 1, 0) : "";
    bars.push_back({fixed_text(from, 0) + to, number_of(&count).value_or(0) / std::max(all, 1.0)});
  }
  const char* caption = "Frames by latency: cycles from the first beat in to the last beat out";
  return bars.empty() ? "" : html_figure(caption, bar_chart(caption, bars));
}

/// How full each FIFO became, from the record of a simulation.
std::string fifo_figure(const Tree& document) {
  const Tree* simulation = document.find("simulation");
  const Tree* fifos = simulation && simulation->is_dict() ? simulation->find("fifos") : nullptr;
  if (!fifos || !fifos->is_list()) return "";
  std::vector<Bar> bars;
  for (const Tree& fifo : fifos->as_list()) {
    if (!fifo.is_dict()) continue;
    const auto peak = number_of(fifo.find("peak")), depth = number_of(fifo.find("depth"));
    const Tree* name = fifo.find("name");
    if (!peak || !depth || *depth < 1 || !name || !name->is_string()) continue;
    bars.push_back(
        {name->as_string() + ": " + fixed_text(*peak, 0) + " of " + fixed_text(*depth, 0),
         std::min(*peak / *depth, 1.0)});
  }
  const char* caption = "FIFOs under stalls: largest number of beats held, and depth";
  return bars.empty() ? "" : html_figure(caption, bar_chart(caption, bars));
}

// The page.

std::string heading_of(const std::string& name) {
  std::string heading = name;
  std::ranges::replace(heading, '_', ' ');
  if (!heading.empty() && heading[0] >= 'a' && heading[0] <= 'z')
    heading[0] = static_cast<char>(heading[0] - 'a' + 'A');
  return heading;
}

std::string record_html(const ProjectRecord& record) {
  std::string html;
  const Tree* document = record.content.find("document");
  if (document && document->is_dict())
    html += training_figures(*document) + latency_figure(*document) + fifo_figure(*document);
  for (const Table& table : tables_of(record.content)) {
    html += hardware_figures(table);
    html += is_heat_table(table) ? heat_table(table) : table_html(table);
  }
  return report::html_section(heading_of(record.name),
                              html.empty() ? "<p>Nothing to show.</p>\n" : html);
}

/// The setting in the first record that has it.
std::string setting(const std::vector<ProjectRecord>& records, const std::string& name) {
  for (const ProjectRecord& record : records) {
    const Tree* document = record.content.find("document");
    const Tree* settings = document && document->is_dict() ? document->find("settings") : nullptr;
    if (!settings || !settings->is_dict()) continue;
    std::string text = text_of(settings->find(name));
    if (!text.empty() && text != "NA") return text;
  }
  return "";
}

}  // namespace

std::string project_page(const std::string& project, const std::vector<ProjectRecord>& records,
                         const std::vector<std::pair<std::string, std::string>>& links) {
  std::string body = "<dl>\n";
  for (const char* name : {"model", "dataset"})
    body += report::html_entry(name, setting(records, name));
  std::vector<std::string> names;
  for (const ProjectRecord& record : records) names.push_back(heading_of(record.name));
  body += report::html_entry("records", join(names, ", ")) + "</dl>\n";
  for (const auto& [name, path] : links)
    body += "<p><a href=\"" + escaped(path) + "\">" + escaped(name) + "</a></p>\n";
  for (const ProjectRecord& record : records) body += record_html(record);
  return report::html_page("Project " + project, body);
}

}  // namespace mase::driver
