// SPDX-License-Identifier: Apache-2.0
// A textbook longest common subsequence, read back into missing and extra nodes.
#include "torch/import/fx_difference.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace mase::test {
namespace {

std::string key_of(const FxNode& node) { return node.op + " " + node.target; }

std::string without_counter(const std::string& name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  const bool counted = end != std::string::npos && end + 1 < name.size() && name[end] == '_';
  return counted ? name.substr(0, end) : name;
}

struct Alignment {
  std::vector<FxNode> missing, extra;
  std::vector<std::pair<FxNode, FxNode>> equal;
};

Alignment align(const std::vector<FxNode>& fx, const std::vector<FxNode>& ours) {
  std::vector<std::vector<int>> best(fx.size() + 1, std::vector<int>(ours.size() + 1, 0));
  for (std::size_t i = fx.size(); i-- > 0;) {
    for (std::size_t j = ours.size(); j-- > 0;) {
      best[i][j] = key_of(fx[i]) == key_of(ours[j]) ? best[i + 1][j + 1] + 1
                                                    : std::max(best[i + 1][j], best[i][j + 1]);
    }
  }
  Alignment out;
  std::size_t i = 0, j = 0;
  while (i < fx.size() || j < ours.size()) {
    if (i < fx.size() && j < ours.size() && key_of(fx[i]) == key_of(ours[j])) {
      out.equal.emplace_back(fx[i++], ours[j++]);
    } else if (j == ours.size() || (i < fx.size() && best[i + 1][j] >= best[i][j + 1])) {
      out.missing.push_back(fx[i++]);
    } else {
      out.extra.push_back(ours[j++]);
    }
  }
  return out;
}

void add_counts(const std::string& sign, const std::vector<FxNode>& nodes,
                std::vector<std::string>& lines) {
  std::map<std::string, int> counts;
  for (const FxNode& node : nodes) ++counts[key_of(node)];
  for (const auto& [key, count] : counts) {
    lines.push_back(sign + " " + std::to_string(count) + " " + key);
  }
}

}  // namespace

std::vector<std::string> fx_differences(const std::vector<FxNode>& fx,
                                        const std::vector<FxNode>& ours) {
  const Alignment alignment = align(fx, ours);
  std::set<std::string> uneven;
  for (const FxNode& node : alignment.missing) uneven.insert(without_counter(node.name));
  for (const FxNode& node : alignment.extra) uneven.insert(without_counter(node.name));
  std::vector<std::string> lines;
  add_counts("-", alignment.missing, lines);
  add_counts("+", alignment.extra, lines);
  for (const auto& [theirs, own] : alignment.equal) {
    const std::string base = without_counter(theirs.name);
    const bool loose = uneven.contains(base) && base == without_counter(own.name);
    if (theirs.name != own.name && !loose) lines.push_back("~ 1 " + theirs.op + " " + theirs.name);
  }
  return lines;
}

}  // namespace mase::test
