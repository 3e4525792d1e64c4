// SPDX-License-Identifier: Apache-2.0
// Dijkstra's algorithm over layouts. An axis may split a dimension, or stop splitting it, only
// within the parts of the axes before it, since parts lie in the order of the devices' numbers.
#include "sharding/reshard.hpp"

#include <functional>

#include "base/text.hpp"

namespace mase::sharding {
namespace {

/// Whether `axis` is, or would be, the innermost axis that splits the dimension.
bool is_innermost(AxisSet axes, std::size_t axis) { return (axes >> (axis + 1)) == 0; }

/// The moves from one layout.
class Moves {
 public:
  using See = std::function<void(const Move&, const Layout&, double seconds)>;

  Moves(const Mesh& mesh, const Layout& at, const Shape& shape, std::size_t element)
      : mesh_(mesh),
        at_(at),
        shape_(shape),
        bytes_(static_cast<double>(numel(shape)) * static_cast<double>(element) /
               static_cast<double>(parts(mesh, at))) {}

  void each(const See& see) const {
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      if (mesh_.sizes[axis] > 1) along(axis, see);
  }

 private:
  void along(std::size_t axis, const See& see) const {
    if (has(at_.partial, axis)) return from_sum(axis, see);
    for (std::size_t dim = 0; dim < at_.split.size(); ++dim)
      if (has(at_.split[dim], axis)) return from_split(axis, dim, see);
    from_whole(axis, see);
  }

  void from_sum(std::size_t axis, const See& see) const {
    take(see, {Collective::all_reduce, axis}, bytes_);
    to_each({Collective::reduce_scatter, axis}, bytes_, see);
  }

  void from_split(std::size_t axis, std::size_t dim, const See& see) const {
    if (!is_innermost(at_.split[dim], axis)) return;
    const double whole = bytes_ * static_cast<double>(mesh_.sizes[axis]);
    take(see, {Collective::all_gather, axis, dim}, whole);
    to_each({Collective::all_to_all, axis, dim}, whole, see);
  }

  void from_whole(std::size_t axis, const See& see) const {
    to_each({Collective::slice, axis}, bytes_, see);
    take(see, {Collective::keep_first, axis}, bytes_);
  }

  /// Splits each dimension in turn, except the one that the move comes from.
  void to_each(Move move, double bytes, const See& see) const {
    for (std::size_t dim = 0; dim < at_.split.size(); ++dim) {
      if (move.kind == Collective::all_to_all && dim == move.from) continue;
      if (!is_innermost(at_.split[dim], move.axis)) continue;
      move.to = dim;
      take(see, move, bytes);
    }
  }

  void take(const See& see, const Move& move, double bytes) const {
    const Layout moved = after(at_, move);
    if (fits(mesh_, moved, shape_))
      see(move, moved, seconds_of(mesh_, move.kind, move.axis, bytes));
  }

  const Mesh& mesh_;
  const Layout& at_;
  const Shape& shape_;
  double bytes_;  ///< of one device's part
};

bool is_better(const Reshard& one, const Reshard& other) {
  return std::pair(one.seconds, one.moves.size()) < std::pair(other.seconds, other.moves.size());
}

/// Takes the layout that is reached most cheaply out of those that are open.
std::pair<Layout, Reshard> take_nearest(std::map<Layout, Reshard>& open) {
  auto nearest = open.begin();
  for (auto it = open.begin(); it != open.end(); ++it)
    if (is_better(it->second, nearest->second)) nearest = it;
  std::pair<Layout, Reshard> taken = *nearest;
  open.erase(nearest);
  return taken;
}

}  // namespace

Layout after(Layout layout, const Move& move) {
  const AxisSet axis = only_axis(move.axis);
  const auto drop = [axis](AxisSet& axes) { axes = static_cast<AxisSet>(axes & ~axis); };
  const bool sums = move.kind == Collective::all_reduce || move.kind == Collective::reduce_scatter;
  const bool splits = move.kind == Collective::slice || move.kind == Collective::reduce_scatter ||
                      move.kind == Collective::all_to_all;
  if (sums) drop(layout.partial);
  if (move.kind == Collective::all_gather || move.kind == Collective::all_to_all)
    drop(layout.split[move.from]);
  if (splits) layout.split[move.to] |= axis;
  if (move.kind == Collective::keep_first) layout.partial |= axis;
  return layout;
}

std::string text_of(const std::vector<Move>& moves) {
  std::vector<std::string> names;
  for (const Move& move : moves)
    names.push_back(std::string(collective_name(move.kind)) + " " + std::to_string(move.axis));
  return join(names, ", ");
}

const std::map<Layout, Reshard>& Resharder::all_from(const Layout& from, const Shape& shape,
                                                     std::size_t element) {
  const auto [place, is_new] = known_.try_emplace(Key{shape, element, from});
  std::map<Layout, Reshard>& reached = place->second;
  if (!is_new) return reached;
  std::map<Layout, Reshard> open{{from, {}}};
  while (!open.empty()) {
    const auto [layout, way] = take_nearest(open);
    reached.emplace(layout, way);
    const auto see = [&](const Move& move, const Layout& after, double seconds) {
      if (reached.contains(after)) return;
      Reshard longer = way;
      longer.seconds += seconds;
      longer.moves.push_back(move);
      const auto [known, added] = open.try_emplace(after, longer);
      if (!added && is_better(longer, known->second)) known->second = longer;
    };
    Moves(mesh_, layout, shape, element).each(see);
  }
  return reached;
}

}  // namespace mase::sharding
