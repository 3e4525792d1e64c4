// SPDX-License-Identifier: Apache-2.0
// Module mase_constant_linear.
#pragma once

#include "hardware/design/modules/module.hpp"
#include "hardware/design/modules/products.hpp"

namespace mase::design {

class StepBuilder;

/// A matrix of constants, which takes a row per cycle.
struct ConstantLinearModule : Operands, Bias, Requantisation {
  static constexpr std::string_view module_name = "mase_constant_linear";
  std::int64_t inputs = 4, outputs = 1;
  HexBits weights{"0", 1}, biases{"0", 1};

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"INPUTS", &ConstantLinearModule::inputs, "elements of a beat that comes"}
                .at_least(1),
            Field{"OUTPUTS", &ConstantLinearModule::outputs, "elements of a beat that leaves"}
                .at_least(1)},
        Operands::fields(), Bias::fields(), Requantisation::fields(),
        std::tuple{Field{"WEIGHTS", &ConstantLinearModule::weights,
                         "weights of the first output, then of the others"},
                   Field{"BIASES", &ConstantLinearModule::biases, "a bias for each output"}});
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
};

/// The step's matrix, whole, on a stream of whole rows.
StreamId add_constant_linear(StepBuilder& builder, StreamId in);

}  // namespace mase::design
