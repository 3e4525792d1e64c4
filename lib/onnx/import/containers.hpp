// SPDX-License-Identifier: Apache-2.0
// The containers that a file leaves out of the scopes of its nodes.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "onnx/model.hpp"

namespace mase::onnx {

/// PyTorch's older exporter names the nodes of a ScriptModule by the modules whose forward runs.
/// A ModuleList has none, nor has a Sequential that is taken apart, so a node of "blocks.0.mlp" is
/// "/0/mlp/Gelu". The names of tensors tell the container: "/0/fc/Gemm" has "blocks.0.fc.weight".
///
/// Each tensor allows some containers for the numbers of its node's scope. A scope's numbers are
/// those of a container if no other is allowed by all tensors below them, and if they do not
/// decrease in the order of the file. So a second list with weights is noticed; one without any,
/// at the same place and with other numbers, is not.
class Containers {
 public:
  explicit Containers(const Graph& graph);

  /// The whole path of a scope; the scope itself where tensors do not tell it.
  std::string whole(const std::string& scope) const;
  /// The module that a product without a named weight belongs to, because the bias which is added
  /// to it alone is that module's: "fc" for "fc.bias". "" for all other nodes.
  std::string owner_of_product(const Node& node) const;

 private:
  /// Where the numbers below a scope may lie; none before the first tensor.
  using Candidates = std::optional<std::unordered_set<std::string>>;
  struct Numbers {
    Candidates containers;
    std::int64_t last = 0;
    bool ordered = true;
  };
  void add_products(const Graph& graph);
  void add_order(const std::string& scope);
  void add_tensor(const std::string& scope, const std::string& owner);

  std::unordered_map<std::string, Numbers> numbers_;     ///< by the scope above them
  std::unordered_map<std::string, std::string> owners_;  ///< of products, by their result
};

}  // namespace mase::onnx
