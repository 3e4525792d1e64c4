// SPDX-License-Identifier: Apache-2.0
// The identity of a process as a tree.
#include "search/workers/worker_identity.hpp"

#include "base/process_identity.hpp"

namespace mase::search {

Tree own_identity() {
  const ProcessIdentity own = own_process();
  Tree identity = Tree::dict();
  identity["host"] = own.host;
  identity["space"] = own.space;
  identity["pid"] = own.pid;
  identity["started"] = own.started;
  return identity;
}

bool is_dead_here(const Tree& identity) {
  const Tree *space = identity.find("space"), *pid = identity.find("pid"),
             *started = identity.find("started");
  if (!space || !space->is_string() || !pid || !pid->is_int() || !started || !started->is_string())
    return false;
  return mase::is_dead_here({"", space->as_string(), pid->as_int(), started->as_string()});
}

}  // namespace mase::search
