// SPDX-License-Identifier: Apache-2.0
// The handshake model of mase_argmax.
#include "hardware/design/handshake/argmax.hpp"

#include "hardware/design/handshake/pool.hpp"
#include "hardware/design/numbers.hpp"

namespace mase::design {

std::unique_ptr<Handshake> make_argmax_handshake(const ModuleParameters& parameters, Stages kept) {
  const std::int64_t n = parameters.integer("N");
  const int tree = log2_ceiling(parameters.integer("LANES"));
  return std::make_unique<PoolHandshake>(1, n, 1, 1, n, kept, tree + 1);
}

}  // namespace mase::design
