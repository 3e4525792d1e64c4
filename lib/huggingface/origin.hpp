// SPDX-License-Identifier: Apache-2.0
// What a graph remembers of the folder that it was made from (Graph::source), so that a folder for
// transformers can be written of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "huggingface/weights.hpp"
#include "ir/graph.hpp"

namespace mase::huggingface {

struct Origin {
  std::string folder;                       ///< an absolute path
  Tree config;                              ///< config.json
  std::map<std::string, StoredAs> tensors;  ///< in the files, by their paths in the graph
  std::vector<std::string> files;  ///< that belong to the model besides: of its tokenizer, ...

  /// The type of all floating-point numbers in the files; float32 if they differ.
  DType dtype() const;
};

Origin origin_of_folder(const std::string& folder, const Weights& weights);
void remember(const Origin& origin, ir::Graph& graph);
/// Nothing for a graph that was not made from a folder, Error(Fault::file) if what it remembers is
/// damaged.
std::optional<Origin> origin_of(const ir::Graph& graph);

}  // namespace mase::huggingface
