// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of an exported program.
#pragma once

#include <string>
#include <string_view>

#include "base/tree.hpp"
#include "pt2/program.hpp"

namespace mase::pt2 {

/// Fills everything but the values of tensors, from the text of the entry `name`.
void read_graph(std::string_view json, const std::string& name, Program& program);
/// A tensor as tensor_values and the tables of weights describe it.
TensorInfo tensor_info(const Tree& meta, const std::string& what);

}  // namespace mase::pt2
