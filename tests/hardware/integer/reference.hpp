// SPDX-License-Identifier: Apache-2.0
// A second evaluator of quantized graphs, independent of lib/hardware/integer: plain loops over
// torch's layout in 113-bit floating point, every port quantized by the definition of its format.
#pragma once

#include <vector>

#include "ir/graph.hpp"

namespace mase::test {

/// 113 bits of mantissa: exact wherever sums of products of 32-bit codes stay below 2^113.
__extension__ typedef __float128 Real;

struct RealTensor {
  Shape shape;
  std::vector<Real> values;
};

/// Results of the graph for float inputs, one tensor per placeholder with any number of rows.
std::vector<RealTensor> evaluate(const ir::Graph& graph, const std::vector<Array>& inputs);

/// Clamped to the format's range and rounded to its grid, from the format's fields; `channel`
/// counts along the first dimension.
Real quantized(Real number, const formats::Format& format, std::size_t channel = 0);

}  // namespace mase::test
