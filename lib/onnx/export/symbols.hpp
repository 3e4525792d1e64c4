// SPDX-License-Identifier: Apache-2.0
// Which sizes of a graph follow the batch of its inputs, or other symbols of the file it came from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

/// Infers the graph for its own sizes and for others: every symbol of an input's dimension becomes
/// a multiple. The symbols are those of the file that the graph came from, and "batch" for
/// dimension 0 where that has none. A graph that cannot take all others at once may follow the
/// first symbol alone, which is the batch.
class Symbols {
 public:
  Symbols(const ir::Graph& graph, bool batch_alone);

  /// How many symbols the inputs have.
  std::size_t count() const { return symbols_.size(); }
  /// The size of a dimension of a tensor; nullopt where it follows a symbol.
  std::optional<std::int64_t> fixed_size(ir::NodeId id, std::size_t dim) const;
  /// The dimensions of a tensor: sizes, symbols, and neither for what is computed from symbols.
  std::vector<Dimension> dimensions(ir::NodeId id) const;

 private:
  struct Symbol {
    std::string name;
    std::int64_t size, factor;  ///< of the graph's inputs; what the other size is a multiple by
    std::vector<std::pair<ir::NodeId, std::size_t>> places;  ///< inputs and their dimensions
  };
  void find_symbols();
  void find_batch();
  Symbol& symbol(const std::string& name, std::int64_t size);
  bool infer(std::size_t count);

  const ir::Graph& graph_;
  std::vector<Symbol> symbols_;
  std::map<ir::NodeId, Shape> others_;  ///< shapes with the other sizes
};

}  // namespace mase::onnx
