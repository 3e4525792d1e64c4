// SPDX-License-Identifier: Apache-2.0
// The cheapest way from one layout of a tensor to another.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "sharding/layout.hpp"

namespace mase::sharding {

/// One step from a layout to another, which the devices along one axis take together.
struct Move {
  Collective kind = Collective::slice;
  std::size_t axis = 0;
  std::size_t from = 0;  ///< the dimension that was split: all_gather, all_to_all
  std::size_t to = 0;    ///< the dimension that is split afterwards: slice, reduce_scatter, ...
  bool operator==(const Move&) const = default;
};

/// The layout after a move.
Layout after(Layout layout, const Move& move);

/// Moves in their order, and what they cost together.
struct Reshard {
  double seconds = 0;
  std::vector<Move> moves;
};
/// "all_reduce 1, slice 0".
std::string text_of(const std::vector<Move>& moves);

/// Finds the cheapest moves; what has been asked for is remembered.
class Resharder {
 public:
  explicit Resharder(const Mesh& mesh) : mesh_(mesh) {}

  /// The cheapest moves to every layout that can be reached from `from`, of a tensor of this shape
  /// with elements of `element` bytes. Among equals it has the fewest moves.
  const std::map<Layout, Reshard>& all_from(const Layout& from, const Shape& shape,
                                            std::size_t element);
  const Reshard& find(const Layout& from, const Layout& to, const Shape& shape,
                      std::size_t element) {
    return all_from(from, shape, element).at(to);
  }

 private:
  using Key = std::tuple<Shape, std::size_t, Layout>;
  const Mesh& mesh_;
  std::map<Key, std::map<Layout, Reshard>> known_;
};

}  // namespace mase::sharding
