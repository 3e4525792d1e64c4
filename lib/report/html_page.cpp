// SPDX-License-Identifier: Apache-2.0
// The style, script and frame of a page.
#include "report/html_page.hpp"

#include "report/chart.hpp"

namespace mase::report {
namespace {

/// Style and script have no '<' or '&', which are raw text in HTML but markup in XML.
constexpr const char* style = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --page: #ffffff;
  --rule: #d8dee4; --dot: #0072b2; --best: #c24a00; --grey: #8b949e; --lost: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9aa4ae; --page: #15181c; --rule: #333a42;
    --dot: #56b4e9; --best: #f0a030; --grey: #6e7681; --lost: #f2867e; }
}
body { margin: 2rem auto; max-width: 1100px; padding: 0 1rem; color: var(--ink);
  background: var(--page); font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; }
dt, figcaption, .legend { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
figure { margin: 1rem 0; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--rule); text-align: right; }
th:last-child, td:last-child { text-align: left; }
details[open] summary { color: var(--soft); }
.sortable th { cursor: pointer; }
th[aria-sort="ascending"]::after { content: " \2191"; }
th[aria-sort="descending"]::after { content: " \2193"; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .labels text { fill: var(--soft); }
.grid { stroke: var(--rule); fill: none; }
.line { fill: none; stroke-width: 2; }
.dots path { fill: none; stroke-width: 5; stroke-linecap: round; }
.dots.feasible { fill: var(--dot); stroke: var(--dot); }
.dots.feasible circle { fill-opacity: .55; stroke: none; }
.dots.infeasible { fill: none; stroke: var(--grey); }
.dots.best { fill: var(--best); stroke: var(--page); }
.dots.best path, .line.best { stroke: var(--best); }
.dots.baseline { fill: none; stroke: var(--ink); stroke-width: 2; }
.line.lost { stroke: var(--lost); }
.line.feasible { stroke: var(--dot); }
.dots.repeated { fill: var(--page); stroke: var(--dot); }
.bar, .heat rect, .rows rect { fill: var(--dot); }
.rows rect.infeasible { fill: var(--grey); }
.rows rect.best { fill: var(--best); }
.rows rect.lost { fill: var(--lost); }
.rows rect.whole { fill: var(--rule); }
.lines .line { stroke: var(--dot); stroke-width: 1; stroke-opacity: .45; }
.lines .infeasible { stroke: var(--grey); }
.lines .best { stroke: var(--best); stroke-width: 2; stroke-opacity: 1; }
.lines .line:hover { stroke-width: 4; stroke-opacity: 1; }
.rows rect:hover, .dots circle:hover { stroke: var(--ink); stroke-width: 2; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); gap: 0 1.5rem; }
.figures svg { width: 100%; height: auto; max-width: 900px; }
.key { margin-right: 1.2rem; }
.key::before { content: "\25CF"; margin-right: .35rem; }
.key.feasible::before { color: var(--dot); }
.key.infeasible::before { content: "\25CB"; color: var(--grey); }
.key.repeated::before { content: "\25CB"; color: var(--dot); }
.key.best::before { color: var(--best); }
.key.lost::before { content: "|"; color: var(--lost); font-weight: bold; }
.key.baseline::before { content: "\25CB"; color: var(--ink); }
)";

constexpr const char* script = R"(
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const number = text => text === "" ? NaN : Number(text.replace("inf", "Infinity"));
  const compare = (a, b) => {
    const x = number(a), y = number(b);
    if (Number.isNaN(x) || Number.isNaN(y)) return a.localeCompare(b);
    return x === y ? 0 : x > y ? 1 : -1;
  };
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    const sort = () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const text = row => row.cells[column].textContent;
      const order = (a, b) => {
        if (text(a) === "" || text(b) === "") return (text(a) === "") - (text(b) === "");
        return (down ? -1 : 1) * compare(text(a), text(b));
      };
      body.append(...[...body.rows].sort(order));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
  });
}
)";

/// Folds a long text behind its beginning, so that a row stays as tall as its neighbours.
std::string cell_html(const std::string& text) {
  constexpr std::size_t most_characters = 120;
  const std::string begin = shortened(text, most_characters);
  if (begin == text) return escaped(text);
  return "<details><summary>" + escaped(begin) + "</summary>" + escaped(text) + "</details>";
}

std::string cells(const std::vector<std::string>& row, const std::string& tag) {
  std::string out = "<tr>";
  for (const std::string& cell : row) out += "<" + tag + ">" + cell_html(cell) + "</" + tag + ">";
  return out + "</tr>\n";
}

}  // namespace

std::string html_table(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows, const std::string& css) {
  std::string out = "<div class=\"scroll\"><table class=\"" + css + "\"><thead>\n" +
                    cells(header, "th") + "</thead><tbody>\n";
  for (const auto& row : rows) out += cells(row, "td");
  return out + "</tbody></table></div>\n";
}

std::string html_section(const std::string& title, const std::string& content) {
  return "<section>\n<h2>" + escaped(title) + "</h2>\n" + content + "</section>\n";
}

std::string html_entry(const std::string& name, const std::string& text) {
  return text.empty() ? "" : "<dt>" + escaped(name) + "</dt><dd>" + escaped(text) + "</dd>\n";
}

std::string html_key(const std::string& css, const std::string& meaning) {
  return "<span class=\"key " + css + "\">" + meaning + "</span> ";
}

std::string html_figure(const std::string& caption, const std::string& content) {
  return "<figure><figcaption>" + escaped(caption) + "</figcaption><div class=\"scroll\">\n" +
         content + "</div></figure>\n";
}

std::string html_page(const std::string& title, const std::string& body) {
  const std::string text = escaped(title);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
         text + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<h1>" + text + "</h1>\n" +
         body + "<script>" + script + "</script>\n</body>\n</html>\n";
}

}  // namespace mase::report
