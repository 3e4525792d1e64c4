// The elementwise family of hardware modules: ports, parts, controls and costs.
#include "hardware/design/module_table.hpp"

#include "hardware/design/control/streams.hpp"
#include "hardware/design/modules/stream_cost.hpp"

namespace mase::design {
namespace {

using Made = std::unique_ptr<Control>;

/// cast, lookup: one register before the skid.
Made make_single(const Parameters&) { return std::make_unique<PipeControl>(1); }

Made make_binary(const Parameters&) { return std::make_unique<JoinControl>(2); }

Made make_scale_shift(const Parameters& parameters) {
  return std::make_unique<PipeControl>(parameters.integer("HAS_SHIFT") != 0 ? 4 : 3);
}

}  // namespace

std::vector<ModuleRow> elementwise_modules() {
  using List = std::vector<std::string>;
  const List in{"in"}, out{"out"};
  return {
      {"requantise", "elementwise", "rounding and clamping", {}, {}, {}, false, nullptr, nullptr},
      {"cast",
       "elementwise",
       "other type, clamps",
       {"requantise", "skid"},
       in,
       out,
       false,
       make_single,
       cast_cost},
      {"lookup",
       "elementwise",
       "function by table",
       {"rom", "skid"},
       in,
       out,
       false,
       make_single,
       lookup_cost},
      {"binary",
       "elementwise",
       "sum, difference or product of two streams",
       {"multiply", "requantise", "skid"},
       List{"a", "b"},
       out,
       false,
       make_binary,
       binary_cost},
      {"scale_shift",
       "elementwise",
       "product and sum by channel",
       {"multiply", "requantise", "rom", "skid"},
       in,
       out,
       false,
       make_scale_shift,
       scale_shift_cost},
  };
}

}  // namespace mase::design
