// SPDX-License-Identifier: Apache-2.0
// What a graph remembers of the tensors that became constants (Graph::source), so that whoever
// needs the tensors of the source again can tell whether they still give the same constants.
#pragma once

#include <map>
#include <string>

#include "ir/graph.hpp"

namespace mase::ir {

/// Tensors by path, with the hashes of their values.
struct Folding {
  std::map<std::string, std::string> read;  ///< from which constants were computed, as they were
  std::map<std::string, std::string> made;  ///< those constants, unless later ones replace them
};

/// 64 hex digits that tell dtype, shape and elements.
std::string value_hash(const Array& value);

/// Adds that the tensors that `after` lacks, or reads in fewer places than `before`, have given
/// those that `before` lacks.
void remember_folding(const Graph& before, Graph& after);
/// Empty for a graph in which nothing was folded. Error(Fault::file) if what it says is damaged.
Folding folding_of(const Graph& graph);

}  // namespace mase::ir
