// SPDX-License-Identifier: Apache-2.0
// Questions about a program.
#include "hardware/integer/program.hpp"

#include <algorithm>

namespace mase::integer {

std::vector<int> Program::consumers(ValueId id) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (std::ranges::find(steps[i].inputs, id) != steps[i].inputs.end())
      found.push_back(static_cast<int>(i));
  return found;
}

}  // namespace mase::integer
