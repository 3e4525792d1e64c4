// The window family of hardware modules: ports, parts, controls and costs.
#include "hw/control/window.hpp"
#include "hw/control/pool.hpp"
#include "hw/control/reduce.hpp"
#include "hw/control/window_parallel.hpp"
#include "hw/module_table.hpp"
#include "hw/modules/window_cost.hpp"

namespace mase::hw {

std::vector<ModuleRow> window_modules() {
  using List = std::vector<std::string>;
  const List in{"in"}, out{"out"};
  return {
      {"window_memory", "window", "memory of the windows", {}, {}, {}, false, nullptr, nullptr},
      {"window_pick", "window", "windows of one pixel", {"skid"}, {}, {}, false, nullptr, nullptr},
      {"window", "window", "sliding window, a beat a cycle",
       List{"skid", "window_memory", "window_pick"}, in, out, false, make_window_control,
       window_cost},
      {"window_parallel", "window", "sliding window, a whole window a cycle",
       List{"skid", "window_memory"}, in, out, false, make_window_parallel_control,
       window_parallel_cost},
      {"pool", "window", "pooling where windows do not overlap", List{"skid", "requantise"}, in,
       out, false, make_pool_control, pool_cost},
      {"reduce", "window", "maximum or sum of beats", List{"pool", "skid", "requantise"}, in, out,
       false, make_reduce_control, reduce_cost},
  };
}

}  // namespace mase::hw
