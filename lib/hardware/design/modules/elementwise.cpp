// SPDX-License-Identifier: Apache-2.0
// The elementwise family of hardware modules: their rows in its order.
#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/binary.hpp"
#include "hardware/design/modules/cast.hpp"
#include "hardware/design/modules/channel_shift.hpp"
#include "hardware/design/modules/divide.hpp"
#include "hardware/design/modules/lookup.hpp"
#include "hardware/design/modules/piecewise.hpp"
#include "hardware/design/modules/scale_shift.hpp"
#include "hardware/design/modules/square_root.hpp"

namespace mase::design {

std::vector<ModuleRow> elementwise_modules() {
  return {
      {.name = "mase_round",
       .folder = "elementwise",
       .doc = "rounding, and whether bounds are passed"},
      {.name = "mase_requantise_stage",
       .folder = "elementwise",
       .doc = "rounding, registers and clamping",
       .uses = {"mase_round"}},
      {.name = "mase_less",
       .folder = "elementwise",
       .doc = "whether a number is less than another",
       .families = {"ecp5"}},
      CastModule::row(),
      LookupModule::row(),
      PiecewiseModule::row(),
      BinaryModule::row(),
      DivideModule::row(),
      SquareRootModule::row(),
      ScaleShiftModule::row(),
      ChannelShiftModule::row(),
  };
}

}  // namespace mase::design
