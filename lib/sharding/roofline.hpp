// SPDX-License-Identifier: Apache-2.0
// The time that a device takes for its part of a node: of its operations or of its memory.
#pragma once

#include <vector>

#include "sharding/layout.hpp"
#include "sharding/operands.hpp"

namespace mase::sharding {

/// Bytes that a device reads and writes for its part of a node: its parts of all operands, in these
/// layouts, and of the result. A table for look-ups counts with what the result has of it.
/// A node that computes nothing (inputs, outputs, items of lists), or whose operator returns a view
/// of an argument by its signature in ATen, moves none.
double memory_bytes(const Mesh& mesh, const ir::Node& node, const std::vector<Operand>& operands,
                    const std::vector<Layout>& layouts, const Layout& result);

/// Seconds of one device for so many operations and bytes, the longer of both times (the roofline
/// of Williams, Waterman and Patterson, CACM 52(4), 2009).
double compute_seconds(const Mesh& mesh, double flops, double bytes);

}  // namespace mase::sharding
