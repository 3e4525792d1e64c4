// SPDX-License-Identifier: Apache-2.0
// Who runs a trial: host and process, so that a dead process on the same host is noticed at once.
// Heartbeats tell of workers elsewhere, in another container for example.
#pragma once

#include "base/tree.hpp"

namespace mase::search {

/// {"host", "space", "pid", "started"}: the system attribute `mase:worker` of a trial.
Tree own_identity();

/// Whether `identity` names a process that could be seen from here and is not there any more.
bool is_dead_here(const Tree& identity);

}  // namespace mase::search
