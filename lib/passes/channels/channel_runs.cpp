// SPDX-License-Identifier: Apache-2.0
// Unification of channel groups.
#include "passes/channels/channel_runs.hpp"

#include <algorithm>

namespace mase::passes {
namespace {

template <class T>
void push_once(std::vector<T>& items, const T& item) {
  if (std::ranges::find(items, item) == items.end()) items.push_back(item);
}

}  // namespace

ChannelRuns ChannelSpace::add(std::int64_t width) {
  units_.push_back({width, {}, {}, {}});
  return {{count() - 1, 1}};
}

ChannelRuns ChannelSpace::resolve(const ChannelRuns& runs) const {
  ChannelRuns found;
  for (const ChannelRun& run : runs) {
    const ChannelUnit& group = unit(run.group);
    if (group.bound.empty()) {
      found.push_back(run);
      continue;
    }
    for (const ChannelRun& part : resolve(group.bound))
      found.push_back({part.group, part.repeat * run.repeat});
  }
  return found;
}

std::int64_t ChannelSpace::size(const ChannelRuns& runs) const {
  std::int64_t elements = 0;
  for (const ChannelRun& run : runs) elements += size(run);
  return elements;
}

void ChannelSpace::join(const ChannelRuns& left, const ChannelRuns& right,
                        const std::string& node) {
  using enum ChannelObstacle::Kind;
  const auto keep_both = [&](ChannelObstacle::Kind kind) {
    keep(left, {kind, node});
    keep(right, {kind, node});
  };
  if (left.empty() || right.empty()) return keep_both(stays);
  if (size(left) != size(right)) return keep_both(op);
  for (;;) {
    const ChannelRuns a = resolve(left), b = resolve(right);
    // Before the first difference the runs are equal, so both start at the same element there.
    const auto [x, y] = std::ranges::mismatch(a, b);
    if (x == a.end() || y == b.end()) return;
    const std::int64_t nx = size(*x), ny = size(*y);
    const bool agreed = nx == ny ? unify(*x, *y) : nx > ny ? split(*x, ny) : split(*y, nx);
    if (!agreed) return keep_both(op);
  }
}

void ChannelSpace::keep(const ChannelRuns& runs, const ChannelObstacle& obstacle) {
  for (const ChannelRun& run : resolve(runs)) push_once(at(run.group).obstacles, obstacle);
}

bool ChannelSpace::move_in_blocks(const ChannelRuns& runs, std::int64_t block,
                                  const std::string& node) {
  for (;;) {
    const ChannelRuns found = resolve(runs);
    const auto finer =
        std::ranges::find_if(found, [&](const ChannelRun& run) { return run.repeat % block != 0; });
    if (finer == found.end()) return true;
    if (coarsen(*finer, block)) continue;
    keep(runs, {ChannelObstacle::Kind::op, node});
    return false;
  }
}

void ChannelSpace::add_producer(const ChannelRuns& runs, const std::string& node) {
  for (const ChannelRun& run : resolve(runs)) push_once(at(run.group).producers, node);
}

/// Makes runs of equal size one group: the one with fewer and larger channels.
bool ChannelSpace::unify(const ChannelRun& left, const ChannelRun& right) {
  const ChannelRun& coarse = left.repeat >= right.repeat ? left : right;
  const ChannelRun& fine = left.repeat >= right.repeat ? right : left;
  if (coarse.repeat % fine.repeat != 0) return false;
  bind(fine.group, {{coarse.group, coarse.repeat / fine.repeat}});
  return true;
}

/// Splits the run's group in two; the first part has the given elements of the run.
bool ChannelSpace::split(const ChannelRun& run, std::int64_t elements) {
  if (elements % run.repeat != 0 || !unit(run.group).producers.empty()) return false;
  const std::int64_t width = unit(run.group).width, first = elements / run.repeat;
  ChannelRuns parts = add(first);
  const ChannelRuns rest = add(width - first);
  parts.insert(parts.end(), rest.begin(), rest.end());
  bind(run.group, parts);
  return true;
}

bool ChannelSpace::coarsen(const ChannelRun& run, std::int64_t block) {
  if (block % run.repeat != 0) return false;
  const std::int64_t together = block / run.repeat, width = unit(run.group).width;
  if (width % together != 0) return false;
  ChannelRuns blocks = add(width / together);
  blocks.front().repeat = together;
  bind(run.group, blocks);
  return true;
}

void ChannelSpace::bind(int group, ChannelRuns runs) {
  for (const ChannelRun& run : runs) {
    for (const ChannelObstacle& obstacle : unit(group).obstacles)
      push_once(at(run.group).obstacles, obstacle);
    for (const std::string& producer : unit(group).producers)
      push_once(at(run.group).producers, producer);
  }
  at(group).bound = std::move(runs);
}

}  // namespace mase::passes
