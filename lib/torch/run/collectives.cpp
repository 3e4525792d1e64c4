// SPDX-License-Identifier: Apache-2.0
// The collectives that the operators of this thread use.
#include "torch/run/collectives.hpp"

#include "base/error.hpp"

namespace mase::libtorch {
namespace {

thread_local Collectives* in_use = nullptr;

}  // namespace

UseCollectives::UseCollectives(Collectives& collectives) : before_(in_use) {
  in_use = &collectives;
}
UseCollectives::~UseCollectives() { in_use = before_; }

Collectives& collectives_in_use() {
  if (!in_use)
    config_error("the graph is one device's part of a larger one and runs on a mesh only");
  return *in_use;
}

}  // namespace mase::libtorch
