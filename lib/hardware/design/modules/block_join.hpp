// SPDX-License-Identifier: Apache-2.0
// Module mase_block_join.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/timing/handshake/streams.hpp"

namespace mase::design {

/// Beats of elements with the exponents that they share, as words.
struct BlockJoinModule {
  static constexpr std::string_view module_name = "mase_block_join";
  std::int64_t width = 64, exponent_bits = 4;

  static constexpr auto fields() {
    return std::tuple{
        Field{"W", &BlockJoinModule::width, "bits of a beat of elements"}.at_least(1),
        Field{"EW", &BlockJoinModule::exponent_bits, "bits of an exponent"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const {
    return std::make_unique<JoinHandshake>(0, kept);
  }
  Cost cost(const Design&) const {
    Cost cost = output_cost(width + exponent_bits, 0);
    cost += skid_cost(width);
    cost += skid_cost(exponent_bits);
    return cost;
  }
  Paths paths(const Technology&) const {
    return {{.what = "word", .luts = 1, .readers = static_cast<double>(width + exponent_bits)}};
  }
  static ModuleRow row() {
    return row_of_module<BlockJoinModule>({.folder = "matrix",
                                           .doc = "elements and the exponent that they share",
                                           .uses = {"mase_skid"},
                                           .inputs = {"a", "b"},
                                           .outputs = {"out"}});
  }
};

}  // namespace mase::design
