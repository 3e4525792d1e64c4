// SPDX-License-Identifier: Apache-2.0
// Running small graphs of ReLU and linear layers without LibTorch, for passes that look at data.
#pragma once

#include <string>
#include <vector>

#include "passes/pass.hpp"

namespace mase::test {

/// Runs ReLU and linear modules with exact sums, shows every result to observers, and, at
/// Level::quantized, quantizes ports of data.
ir::MakeEvaluator float_runner();

/// x [3, 4] -> act (ReLU) -> fc (linear, weight [2, 4], bias [2]).
ir::Graph two_layers(const std::vector<float>& weight, const std::vector<float>& bias);

/// Runs one pass of the program with options in TOML.
passes::Result run_pass(ir::Graph& graph, const std::string& pass, const std::string& options,
                        passes::PassContext& context);

/// A context with this evaluator whose training rows are `rows`, shown `batch` at a time.
passes::PassContext context_with_rows(const Array& rows, std::int64_t batch);

}  // namespace mase::test
