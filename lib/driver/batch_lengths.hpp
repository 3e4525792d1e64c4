// SPDX-License-Identifier: Apache-2.0
// The setting group_by_length: whether a model can have it, and its effect on the data set.
#pragma once

#include "driver/session.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// With `group_by_length`, batches of the session's data set have rows of similar length. One row
/// is run with little padding and with much before: Error(Fault::config) for a model that takes
/// rows of one length only, or whose results depend on the padding.
void group_batches_by_length(Session& session, const ir::Graph& graph);

}  // namespace mase::driver
