// SPDX-License-Identifier: Apache-2.0
// Module mase_fifo.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// A queue: a memory of `depth` beats and an output register.
struct FifoModule {
  static constexpr std::string_view module_name = "mase_fifo";
  std::int64_t width = 8, depth = 4;

  static constexpr auto fields() {
    return std::tuple{
        Field{"W", &FifoModule::width, "bits of a beat"}.at_least(1),
        Field{"DEPTH", &FifoModule::depth, "beats in the memory; it holds one more"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static std::vector<Measured<FifoModule>> measured();
  static ModuleRow row();
};

/// The depth of an instance that is a queue.
std::int64_t depth_of(const Instance& fifo);
void set_depth(Instance& fifo, std::int64_t depth);

}  // namespace mase::design
