// SPDX-License-Identifier: Apache-2.0
// Laying out text tables: column widths in Unicode code points, wrapping, alignment; and CSV.
#include "report/table.hpp"

#include <algorithm>
#include <string_view>

#include "base/text.hpp"

namespace mase::report {
namespace {

using Row = std::vector<std::string>;
using Lines = std::vector<std::string>;  ///< one cell, a line per entry
using Cells = std::vector<Lines>;        ///< one row

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

/// The bytes of the first `count` code points.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (!continues(text[at]) && count-- == 0) break;
  return at;
}

/// Cuts a line into pieces of at most `wrap` code points, at a blank where there is one.
void wrap_line(std::string_view line, std::size_t wrap, Lines& out) {
  while (wrap != 0 && width_of(line) > wrap) {
    std::size_t end = bytes_of(line, wrap);
    std::size_t next = end;
    const auto blank = line.substr(0, end + 1).rfind(' ');
    if (blank != std::string_view::npos && blank != 0) {
      end = blank;
      next = blank + 1;
    }
    out.emplace_back(line.substr(0, end));
    line.remove_prefix(next);
  }
  out.emplace_back(line);
}

Lines lines_of(const std::string& cell, std::size_t wrap) {
  Lines out;
  for (const std::string& line : split(replace_all(cell, "\t", " "), '\n'))
    wrap_line(line, wrap, out);
  return out;
}

/// A row as `columns` cells; missing cells are empty.
Cells cells_of(const Row& row, std::size_t columns, std::size_t wrap) {
  Cells cells(columns, Lines{""});
  for (std::size_t c = 0; c < row.size(); ++c) cells[c] = lines_of(row[c], wrap);
  return cells;
}

struct Layout {
  Cells header;
  std::vector<Cells> rows;
  std::vector<std::size_t> widths;
  std::vector<Align> align;
};

void widen(std::vector<std::size_t>& widths, const Cells& cells) {
  for (std::size_t c = 0; c < cells.size(); ++c)
    for (const std::string& line : cells[c]) widths[c] = std::max(widths[c], width_of(line));
}

Layout lay_out(const Row& header, const std::vector<Row>& rows, const std::vector<Align>& align,
               std::size_t wrap) {
  std::size_t columns = header.size();
  for (const Row& row : rows) columns = std::max(columns, row.size());
  Layout layout;
  layout.align = align;
  layout.align.resize(columns, Align::left);
  layout.widths.resize(columns, 0);
  layout.header = cells_of(header, columns, wrap);
  widen(layout.widths, layout.header);
  for (const Row& row : rows) {
    layout.rows.push_back(cells_of(row, columns, wrap));
    widen(layout.widths, layout.rows.back());
  }
  return layout;
}

std::string pad(const std::string& text, std::size_t width, Align align) {
  const std::size_t space = width - width_of(text);
  const std::size_t left = align == Align::left ? 0 : align == Align::right ? space : space / 2;
  return std::string(left, ' ') + text + std::string(space - left, ' ');
}

/// The text lines of one row, with the given text before, between and after its cells.
std::string row_text(const Cells& cells, const Layout& layout, std::string_view before,
                     std::string_view between, std::string_view after) {
  std::size_t height = 1;
  for (const Lines& lines : cells) height = std::max(height, lines.size());
  std::string out;
  for (std::size_t i = 0; i < height; ++i) {
    Row parts;
    for (std::size_t c = 0; c < cells.size(); ++c)
      parts.push_back(
          pad(i < cells[c].size() ? cells[c][i] : "", layout.widths[c], layout.align[c]));
    std::string line = std::string(before) + join(parts, between) + std::string(after);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  return '"' + replace_all(cell, "\"", "\"\"") + '"';
}

std::string csv_row(const Row& row) {
  Row cells;
  for (const std::string& cell : row) cells.push_back(csv_cell(cell));
  return join(cells, ",") + "\r\n";
}

}  // namespace

std::string boxed(const Row& header, const std::vector<Row>& rows, const std::vector<Align>& align,
                  std::size_t wrap) {
  const Layout layout = lay_out(header, rows, align, wrap);
  std::string rule = "+";
  for (const std::size_t width : layout.widths) rule += std::string(width + 2, '-') + "+";
  rule += "\n";
  std::string out = rule + row_text(layout.header, layout, "| ", " | ", " |") + rule;
  for (const Cells& row : layout.rows) out += row_text(row, layout, "| ", " | ", " |");
  return layout.rows.empty() ? out : out + rule;
}

std::string plain(const Row& header, const std::vector<Row>& rows,
                  const std::vector<Align>& align) {
  const Layout layout = lay_out(header, rows, align, 0);
  Row rules;
  for (const std::size_t width : layout.widths) rules.emplace_back(width, '-');
  std::string out = row_text(layout.header, layout, "", "  ", "") + join(rules, "  ") + "\n";
  for (const Cells& row : layout.rows) out += row_text(row, layout, "", "  ", "");
  return out;
}

/// RFC 4180: CRLF ends a line; a cell with a comma, quote or line break is quoted, quotes doubled.
std::string markdown(const Row& header, const std::vector<Row>& rows) {
  const auto line = [](Row cells) {
    for (std::string& cell : cells) cell = replace_all(cell, "|", "\\|");
    return "| " + join(cells, " | ") + " |\n";
  };
  std::string text = line(header) + "|";
  for (std::size_t i = 0; i < header.size(); ++i) text += "---|";
  text += "\n";
  for (const Row& row : rows) text += line(row);
  return text;
}

std::string csv(const Row& header, const std::vector<Row>& rows) {
  std::string out = csv_row(header);
  for (const Row& row : rows) out += csv_row(row);
  return out;
}

}  // namespace mase::report
