// SPDX-License-Identifier: Apache-2.0
// Module mase_linear.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/multiply_accumulate.hpp"

namespace mase::design {

class StepBuilder;

/// A matrix times rows of a stream, folded.
struct LinearModule : MultiplyAccumulate {
  static constexpr std::string_view module_name = "mase_linear";
  std::int64_t columns = 8, passes = 8, sets = 1, simd = 8, pe = 8;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"SF", &LinearModule::columns, "beats of a row"}.at_least(1),
                   Field{"NF", &LinearModule::passes, "passes over a row, a beat of outputs each"}
                       .at_least(1),
                   Field{"SETS", &LinearModule::sets, "sets of weights, a row each"}.at_least(1),
                   Field{"SIMD", &LinearModule::simd, "elements of a beat that comes"}.at_least(1),
                   Field{"PE", &LinearModule::pe, "elements of a beat that leaves"}.at_least(1)},
        MultiplyAccumulate::fields(), Operands::exponent_fields());
  }

  ProductShape shape() const { return {columns, passes * sets, simd, pe}; }
  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

/// The step's matrix on a stream whose lanes are the fold's in_lanes.
StreamId add_linear(StepBuilder& builder, StreamId in);

}  // namespace mase::design
