// The window family of hardware modules: ports, parts, handshake models and costs.
#include "hardware/design/handshake/window.hpp"
#include "hardware/design/handshake/pool.hpp"
#include "hardware/design/handshake/reduce.hpp"
#include "hardware/design/handshake/window_parallel.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/window_cost.hpp"

namespace mase::design {

std::vector<ModuleRow> window_modules() {
  using List = std::vector<std::string>;
  const List in{"in"}, out{"out"};
  return {
      {"mase_window_memory",
       "window",
       "memory of the windows",
       {},
       {},
       {},
       false,
       nullptr,
       nullptr},
      {"mase_window_pick",
       "window",
       "windows of one pixel",
       {"mase_skid"},
       {},
       {},
       false,
       nullptr,
       nullptr},
      {"mase_window", "window", "sliding window, a beat a cycle",
       List{"mase_skid", "mase_window_memory", "mase_window_pick"}, in, out, false,
       make_window_handshake, window_cost},
      {"mase_window_parallel", "window", "sliding window, a whole window a cycle",
       List{"mase_skid", "mase_window_memory"}, in, out, false, make_window_parallel_handshake,
       window_parallel_cost},
      {"mase_pool", "window", "pooling where windows do not overlap",
       List{"mase_skid", "mase_requantise"}, in, out, false, make_pool_handshake, pool_cost},
      {"mase_reduce", "window", "maximum or sum of beats",
       List{"mase_pool", "mase_skid", "mase_requantise"}, in, out, false, make_reduce_handshake,
       reduce_cost},
  };
}

}  // namespace mase::design
