// SPDX-License-Identifier: Apache-2.0
// The numbers of a graph's tensors, written and read by their paths.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace mase::test {

/// As many numbers as the tensor has; its shape stays.
inline void set(ir::Graph& graph, const std::string& path, const std::vector<float>& values) {
  Array& array = graph.tensors.at(path).value;
  array = Array::from(values, array.shape());
}

inline std::vector<float> get(const ir::Graph& graph, const std::string& path) {
  const auto span = graph.tensors.at(path).value.span<float>();
  return {span.begin(), span.end()};
}

}  // namespace mase::test
