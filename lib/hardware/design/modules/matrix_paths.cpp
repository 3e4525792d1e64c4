// SPDX-License-Identifier: Apache-2.0
// Paths of matrix modules.
#include <algorithm>

#include "hardware/design/modules/multiply_accumulate.hpp"
#include "hardware/design/modules/paths.hpp"

namespace mase::design {
Paths depthwise_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  return multiply_accumulate_paths(
      read_group<MultiplyAccumulate>(p),
      {p.integer("N"), p.integer("BLOCKS"), p.integer("TAPS") * p.integer("CHANNELS"),
       p.integer("GROUPS") * p.integer("OUTPUTS")},
      technology);
}

}  // namespace mase::design
