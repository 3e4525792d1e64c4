// The twin of reduce.
#include "hardware/design/control/reduce.hpp"

#include "hardware/design/control/pool.hpp"

namespace mase::design {

std::unique_ptr<Control> make_reduce_control(const Parameters& parameters) {
  const std::int64_t n = parameters.integer("N");
  return std::make_unique<PoolControl>(1, n, 1, 1, n);
}

}  // namespace mase::design
