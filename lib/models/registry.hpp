// SPDX-License-Identifier: Apache-2.0
// Reference networks built in C++ as graphs, with seeded initial weights and without LibTorch.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::models {

/// A built-in network: one row of the table.
struct ModelRow {
  std::string name;    ///< "jsc-tiny"
  std::string doc;     ///< its layers in one line
  Shape sample_shape;  ///< shape of one input row
  int classes;
  std::string dataset;  ///< its usual data set
  /// Builds the graph for `batch` rows of `sample_shape` and `classes` outputs.
  ir::Graph (*build)(const Shape& sample_shape, int classes, std::uint64_t seed);
};

const std::vector<ModelRow>& model_table();
/// The row of a network; nullptr when there is none. "jsc_tiny" and "jsc-tiny" are the same.
const ModelRow* find_model(const std::string& name);

}  // namespace mase::models
