// The twin of reduce.
#include "hw/control/reduce.hpp"

#include "hw/control/pool.hpp"

namespace mase::hw {

std::unique_ptr<Control> make_reduce_control(const Parameters& parameters) {
  const std::int64_t n = parameters.integer("N");
  return std::make_unique<PoolControl>(1, n, 1, 1, n);
}

}  // namespace mase::hw
