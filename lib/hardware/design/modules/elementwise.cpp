// The elementwise family of hardware modules: ports, parts, handshake models and costs.
#include "hardware/design/module_table.hpp"

#include "hardware/design/handshake/streams.hpp"
#include "hardware/design/modules/stream_cost.hpp"

namespace mase::design {
namespace {

using Made = std::unique_ptr<Handshake>;

/// cast, lookup: one register before the skid.
Made make_single(const ModuleParameters&, Stages kept) {
  return std::make_unique<PipeHandshake>(1, kept);
}

Made make_binary(const ModuleParameters&, Stages kept) {
  return std::make_unique<JoinHandshake>(2, kept);
}

Made make_scale_shift(const ModuleParameters& parameters, Stages kept) {
  return std::make_unique<PipeHandshake>(parameters.integer("HAS_SHIFT") != 0 ? 4 : 3, kept);
}

}  // namespace

std::vector<ModuleRow> elementwise_modules() {
  using List = std::vector<std::string>;
  const List in{"in"}, out{"out"};
  return {
      {"mase_requantise",
       "elementwise",
       "rounding and clamping",
       {},
       {},
       {},
       false,
       nullptr,
       nullptr},
      {"mase_cast",
       "elementwise",
       "other type, clamps",
       {"mase_requantise", "mase_skid"},
       in,
       out,
       false,
       make_single,
       cast_cost},
      {"mase_lookup",
       "elementwise",
       "function by table",
       {"mase_rom", "mase_skid"},
       in,
       out,
       false,
       make_single,
       lookup_cost},
      {"mase_binary",
       "elementwise",
       "sum, difference or product of two streams",
       {"mase_multiply", "mase_requantise", "mase_skid"},
       List{"a", "b"},
       out,
       false,
       make_binary,
       binary_cost},
      {"mase_scale_shift",
       "elementwise",
       "product and sum by channel",
       {"mase_multiply", "mase_requantise", "mase_rom", "mase_skid"},
       in,
       out,
       false,
       make_scale_shift,
       scale_shift_cost},
  };
}

}  // namespace mase::design
