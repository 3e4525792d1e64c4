// SPDX-License-Identifier: Apache-2.0
// Demands: the grid that every reader of a node's result asks for, found backwards through the
// graph, so that the step that makes the value can requantise at once.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "hardware/integer/datapath.hpp"
#include "ir/graph.hpp"

namespace mase::integer {

/// What the readers of a result ask for together.
struct Demand {
  /// What is known of the readers.
  enum class Kind {
    none,    ///< some reader takes the exact result, or the readers have no common grid
    grid,    ///< quantizing to `grid` at once changes no reader's input
    refused  ///< a reader has no datapath
  };
  Kind kind = Kind::none;
  Grid grid;
  /// Why a demand is refused: the reader and what is wrong with its format. Empty where the
  /// reader's op has no datapath, which is reported at the reader.
  std::string reason;
  /// The levels that all readers ask for, each behind a step of its own: kind none.
  std::shared_ptr<const Levels> levels = nullptr;
  /// The format with blocks that all readers ask for, each behind steps of its own: kind none.
  std::optional<formats::Format> blocks = std::nullopt;
};

/// Demands of all nodes. A reader's data_in format is its demand. A node without one that only
/// moves, chooses or clamps values passes its own demand (or data_out format) on. That is exact:
/// a quantizer q is monotone and acts element by element, so q(max(x)) = max(q(x)),
/// q(clamp(x, a, b)) = clamp(q(x), q(a), q(b)), and moving elements commutes with it. A format with
/// blocks is asked for by readers themselves only: what it makes of an element depends on others.
///
/// Demands with one fraction and one rounding join to the hull of their ranges: clamping to the
/// hull and then to either range is clamping to that range.
std::map<ir::NodeId, Demand> find_demands(const ir::Graph& graph);

/// What each reader of a result asks for, for messages: "'conv1' asks for s8.4, 'mul' for none".
std::string demands_text(const ir::Graph& graph, ir::NodeId id,
                         const std::map<ir::NodeId, Demand>& demands);

}  // namespace mase::integer
