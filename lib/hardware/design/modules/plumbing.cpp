// SPDX-License-Identifier: Apache-2.0
// The plumbing family of hardware modules.
#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/concat.hpp"
#include "hardware/design/modules/embedding.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/modules/gather.hpp"
#include "hardware/design/modules/insert.hpp"
#include "hardware/design/modules/repeat.hpp"
#include "hardware/design/modules/skid.hpp"
#include "hardware/design/modules/slice.hpp"
#include "hardware/design/modules/stream_fork.hpp"
#include "hardware/design/modules/stream_resize.hpp"

namespace mase::design {

std::vector<ModuleRow> plumbing_modules() {
  using List = std::vector<std::string>;
  const List skid{"mase_skid"};
  return {
      SkidModule::row(),
      FifoModule::row(),
      ForkModule::row(),
      ResizeModule::row(),
      {.name = "mase_stream_regroup",
       .folder = "plumbing",
       .doc = "the same where neither number divides the other",
       .uses = skid},
      RepeatModule::row(),
      EmbeddingModule::row(),
      ConcatModule::row(),
      InsertModule::row(),
      SliceModule::row(),
      GatherModule::row(),
      {.name = "mase_axi_stream_input",
       .folder = "interface",
       .doc = "AXI4-Stream in",
       .uses = skid},
      {.name = "mase_axi_stream_output",
       .folder = "interface",
       .doc = "AXI4-Stream out",
       .uses = skid},
      {.name = "mase_axi_control", .folder = "interface", .doc = "AXI4-Lite registers"},
  };
}

}  // namespace mase::design
