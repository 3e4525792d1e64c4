// SPDX-License-Identifier: Apache-2.0
// Uniform initial weights.
#include "ir/initial_weights.hpp"

#include <cmath>

#include "base/random.hpp"

namespace mase::ir {

Array initial_weights(const Shape& shape, std::int64_t fan_in, std::uint64_t seed,
                      std::uint64_t stream) {
  Random random(seed, stream);
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  Array values(DType::float32, shape);
  for (float& value : values.mutable_span<float>())
    value = static_cast<float>(random.uniform(-bound, bound));
  return values;
}

}  // namespace mase::ir
