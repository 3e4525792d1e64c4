// SPDX-License-Identifier: Apache-2.0
// Groups by union and find, and their order.
#include "hardware/design/building/node_groups.hpp"

#include <numeric>

namespace mase::design {
namespace {

class Grouping {
 public:
  explicit Grouping(std::size_t nodes) : group_(nodes) {
    std::iota(group_.begin(), group_.end(), 0);
  }

  void join(const NodeLink& link) { group_[group(link.from)] = group(link.to); }

  /// Groups that give each other beats become one.
  void join_circles(const std::vector<NodeLink>& links) {
    const auto next = followers(links);
    std::vector<NodeLink> circles;
    for (const NodeLink& link : links)
      if (reaches(next, group(link.to), group(link.from))) circles.push_back(link);
    for (const NodeLink& link : circles) join(link);
  }

  /// In an order of the links.
  std::vector<std::vector<std::size_t>> ordered(const std::vector<NodeLink>& links) {
    const auto next = followers(links);
    std::vector<std::vector<std::size_t>> members(group_.size()), result;
    for (std::size_t n = 0; n < group_.size(); ++n) members[group(n)].push_back(n);
    std::vector<std::size_t> before(group_.size()), open;
    for (const auto& after : next)
      for (const std::size_t g : after) ++before[g];
    for (std::size_t g = 0; g < members.size(); ++g)
      if (!members[g].empty() && before[g] == 0) open.push_back(g);
    while (!open.empty()) {
      const std::size_t g = open.back();
      open.pop_back();
      for (const std::size_t after : next[g])
        if (--before[after] == 0) open.push_back(after);
      result.push_back(std::move(members[g]));
    }
    return result;
  }

 private:
  std::size_t group(std::size_t node) {
    while (group_[node] != node) node = group_[node] = group_[group_[node]];
    return node;
  }

  /// Groups by those that they have links to.
  std::vector<std::vector<std::size_t>> followers(const std::vector<NodeLink>& links) {
    std::vector<std::vector<std::size_t>> result(group_.size());
    for (const NodeLink& link : links)
      if (group(link.from) != group(link.to)) result[group(link.from)].push_back(group(link.to));
    return result;
  }

  static bool reaches(const std::vector<std::vector<std::size_t>>& next, std::size_t from,
                      std::size_t to) {
    std::vector<bool> seen(next.size());
    std::vector<std::size_t> open{from};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (at == to) return true;
      if (seen[at]) continue;
      seen[at] = true;
      open.insert(open.end(), next[at].begin(), next[at].end());
    }
    return false;
  }

  std::vector<std::size_t> group_;  ///< of every node: another one of its group, at last the first
};

}  // namespace

std::vector<std::vector<std::size_t>> node_groups(std::size_t nodes,
                                                  const std::vector<NodeLink>& links) {
  Grouping grouping(nodes);
  for (const NodeLink& link : links)
    if (!link.cut) grouping.join(link);
  grouping.join_circles(links);
  return grouping.ordered(links);
}

}  // namespace mase::design
