// SPDX-License-Identifier: Apache-2.0
// Only a process that could be seen from here is ever said to be dead.
#include "search/workers/worker_identity.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace mase;
using namespace mase::search;

namespace {

/// The number of a process that has ended.
std::int64_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

}  // namespace

TEST_CASE("a process of this machine is dead when it is gone or its number has another") {
  Tree identity = own_identity();
  CHECK_FALSE(is_dead_here(identity));
  identity["started"] = "1";
  CHECK(is_dead_here(identity));
  identity = own_identity();
  identity["pid"] = ended_process();
  CHECK(is_dead_here(identity));
}

TEST_CASE(
    "a worker in another container, on a cloned machine, or of an older program is not judged") {
  Tree identity = own_identity();
  identity["pid"] = ended_process();
  const std::string space = identity.at("space").as_string();
  for (const std::string& other : {space + "0", "another boot" + space, std::string()}) {
    identity["space"] = other;
    CHECK_FALSE(is_dead_here(identity));
  }
  Tree older = Tree::dict();
  older["host"] = identity.at("host");
  older["pid"] = identity.at("pid");
  older["started"] = identity.at("started");
  CHECK_FALSE(is_dead_here(older));
}
