// SPDX-License-Identifier: Apache-2.0
// How the elements of a tensor's dimension belong to groups of channels that are scaled together.
// Groups are unified while a graph is followed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mase::passes {

/// The channels of one group in order; each has `repeat` consecutive elements. A convolution's
/// output has repeat 1, and height * width after a flatten.
struct ChannelRun {
  int group = 0;
  std::int64_t repeat = 1;
  bool operator==(const ChannelRun&) const = default;
};

/// The runs of a dimension in order (several after a concatenation); empty: its size never changes.
using ChannelRuns = std::vector<ChannelRun>;

/// Why a group keeps its width.
struct ChannelObstacle {
  /// Why channels cannot be scaled.
  enum class Kind {
    output,  ///< its channels are results of the model
    stays,   ///< its channels meet channels that never change, such as those of an input
    op,      ///< its channels cannot be followed through a node
  };
  Kind kind = Kind::op;
  std::string node;  ///< the node where that happens
  bool operator==(const ChannelObstacle&) const = default;
};

/// A group: channels whose number must be the same wherever they go.
struct ChannelUnit {
  std::int64_t width = 0;              ///< channels, or blocks of channels that move together
  std::vector<std::string> producers;  ///< layers that make them, in graph order
  std::vector<ChannelObstacle> obstacles;
  ChannelRuns bound;  ///< not empty: the group turned out to consist of these runs
};

/// Groups as variables: `join` makes two dimensions agree by binding groups to each other. A group
/// whose channels turn out to move in blocks is bound to the group of those blocks. A group without
/// producers (the input side of a weight) may be split at the seam of a concatenation.
class ChannelSpace {
 public:
  ChannelRuns add(std::int64_t width);
  /// The same runs in terms of groups that are not bound.
  ChannelRuns resolve(const ChannelRuns& runs) const;
  std::int64_t size(const ChannelRuns& runs) const;  ///< elements
  const ChannelUnit& unit(int group) const { return units_[static_cast<std::size_t>(group)]; }
  int count() const { return static_cast<int>(units_.size()); }

  /// Makes two dimensions of a node have the same channels; if they cannot, they keep their width.
  void join(const ChannelRuns& left, const ChannelRuns& right, const std::string& node);
  /// Makes the groups of these runs keep their width.
  void keep(const ChannelRuns& runs, const ChannelObstacle& obstacle);
  /// Makes blocks of `block` elements move together: every run's repeat becomes a multiple of
  /// `block`. Returns false when blocks do not fit; the groups then keep their width.
  bool move_in_blocks(const ChannelRuns& runs, std::int64_t block, const std::string& node);
  void add_producer(const ChannelRuns& runs, const std::string& node);

 private:
  ChannelUnit& at(int group) { return units_[static_cast<std::size_t>(group)]; }
  std::int64_t size(const ChannelRun& run) const { return unit(run.group).width * run.repeat; }
  bool unify(const ChannelRun& left, const ChannelRun& right);
  bool split(const ChannelRun& run, std::int64_t elements);
  bool coarsen(const ChannelRun& run, std::int64_t block);
  void bind(int group, ChannelRuns runs);

  std::vector<ChannelUnit> units_;
};

}  // namespace mase::passes
