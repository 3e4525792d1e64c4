// SPDX-License-Identifier: Apache-2.0
// Random sound graphs with every kind of value, name and declaration, for round-trip tests.
#pragma once

#include "base/random.hpp"
#include "ir/graph.hpp"

namespace mase::ir::test {

Graph random_graph(std::uint64_t seed);

}  // namespace mase::ir::test
