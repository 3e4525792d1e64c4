// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of an exported program.
#pragma once

#include "base/tree.hpp"
#include "pt2/program.hpp"

namespace mase::pt2 {

/// Fills everything but the values of tensors.
void read_graph(const Tree& document, Program& program);
/// A tensor as tensor_values and the tables of weights describe it.
TensorInfo tensor_info(const Tree& meta, const std::string& what);

}  // namespace mase::pt2
