// SPDX-License-Identifier: Apache-2.0
// The handshake model of mase_reduce.
#include "hardware/design/timing/handshake/reduce.hpp"

#include "hardware/design/timing/handshake/pool.hpp"

namespace mase::design {

std::unique_ptr<Handshake> make_reduce_handshake(const ModuleParameters& parameters, Stages kept) {
  const std::int64_t n = parameters.integer("N");
  return std::make_unique<PoolHandshake>(1, n, 1, 1, n, kept);
}

}  // namespace mase::design
