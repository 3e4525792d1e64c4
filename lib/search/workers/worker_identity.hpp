// SPDX-License-Identifier: Apache-2.0
// The identity of the worker that runs a trial: host and process. A dead process on the same host
// is noticed at once. For workers elsewhere, such as in another container, heartbeats tell.
#pragma once

#include "base/tree.hpp"

namespace mase::search {

/// {"host", "space", "pid", "started"}: the system attribute `mase:worker` of a trial.
Tree own_identity();

/// Whether `identity` names a process that would be visible from here, but does not exist any more.
bool is_dead_here(const Tree& identity);

}  // namespace mase::search
