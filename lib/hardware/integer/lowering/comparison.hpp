// SPDX-License-Identifier: Apache-2.0
// Truths, streams of one bit, and whole numbers that are only compared.
#pragma once

#include <optional>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// The type of whole numbers that `reader` compares with one number, whose neighbours stand for all
/// other numbers.
std::optional<FixedType> compared_type(const ir::Graph& graph, const ir::Node& reader,
                                       ir::NodeId id);

/// Whether a stream is 0 or 1, of one bit; the stream as such, 1 where it is not 0.
bool is_truth(const Call& call, const StreamView& x);
StreamView as_truth(const Call& call, const StreamView& x);

}  // namespace mase::integer
