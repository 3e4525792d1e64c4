// SPDX-License-Identifier: Apache-2.0
// A point of the data file is a line C 'fields' count; fields are \1 key \2 value, and the field
// "page" is v_<kind>/<module>.
#include "hardware/emit/tools/coverage.hpp"

#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::emit {
namespace {

struct Point {
  std::string kind, module;
  std::int64_t times = 0;
};

std::optional<Point> parse_point(const std::string& line) {
  constexpr std::string_view page = "\1page\2v_";
  const std::size_t end = line.rfind("' ");
  const std::size_t start = line.find(page);
  if (end == std::string::npos) file_error("the coverage data is damaged: '" + line + "'");
  if (start == std::string::npos) return std::nullopt;
  const std::size_t first = start + page.size();
  const std::string value = line.substr(first, line.find_first_of("\1'", first) - first);
  const std::size_t slash = value.find('/');
  const std::optional<std::int64_t> count = parse_int(line.substr(end + 2));
  if (slash == std::string::npos || !count)
    file_error("the coverage data is damaged: '" + line + "'");
  return Point{value.substr(0, slash), value.substr(slash + 1), *count};
}

void count_point(Tree& tree, const Point& point) {
  Tree& kind = tree[point.kind];
  const auto add = [&](const char* key, std::int64_t number) {
    const Tree* before = kind.find(key);
    kind[key] = (before ? before->as_int() : 0) + number;
  };
  add("points", 1);
  add("hit", point.times > 0 ? 1 : 0);
  add("times", point.times);
}

}  // namespace

Tree summarise_coverage(const std::string& text) {
  Tree tree = Tree::dict(), modules = Tree::dict();
  for (const std::string& line : split(text, '\n')) {
    if (!line.starts_with("C '")) continue;
    const std::optional<Point> point = parse_point(line);
    if (!point || point->module == "bench_top") continue;
    count_point(tree, *point);
    count_point(modules[point->module], *point);
  }
  tree["modules"] = std::move(modules);
  return tree;
}

}  // namespace mase::emit
