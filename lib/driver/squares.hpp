// SPDX-License-Identifier: Apache-2.0
// Where squares are read: a value of 8 bits has a square of 16.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "ir/graph.hpp"

namespace mase::driver {

/// Node and port wherever x^2 is read, and what has its range: a mean or a sum of squares, moved,
/// scaled or with something added, up to the root, as norms that are written out have it. Ports
/// carry float32 tensors of ops that can have formats.
std::set<std::pair<std::string, std::string>> ports_of_squares(const ir::Graph& graph);

}  // namespace mase::driver
