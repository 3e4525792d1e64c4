// SPDX-License-Identifier: Apache-2.0
// The part of a model without a format, which quantization has left in float.
#pragma once

#include <string>
#include <vector>

#include "base/tree.hpp"
#include "ir/graph.hpp"

namespace mase::passes {

/// Counts of parameters (each once, in elements) and of the multiply-accumulates of one sample by
/// the rules of count_operations.
struct FloatShare {
  double parameters = 0, float_parameters = 0;  ///< float: read without a format everywhere
  double macs = 0, float_macs = 0;              ///< float: at nodes without any format
  std::vector<std::string> nodes;               ///< nodes with MACs in float: "'name' (op)"
  std::vector<std::string> tensors;             ///< the parameters in float, by path

  bool any() const { return float_parameters > 0 || float_macs > 0; }
  /// "2112 of 17187 parameters (12.3 %) and 784 of 901 MACs (87.0 %), at 'self_attn' (...)"; names
  /// the parameters instead when no MACs are in float. A long list is cut.
  std::string text() const;
  Tree tree() const;  ///< the four numbers by name
};

FloatShare float_share(const ir::Graph& graph);

}  // namespace mase::passes
