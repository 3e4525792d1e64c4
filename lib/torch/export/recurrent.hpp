// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and cells in TorchScript: ATen's operator, or the same steps as `run_steps`.
#pragma once

#include "formats/format.hpp"
#include "torch/export/method.hpp"
#include "torch/run/recurrent.hpp"

namespace mase::libtorch {

/// How a recurrent operator is written.
struct RecurrentForm {
  bool stepwise = false;                   ///< step by step: where any port has a format
  bool packed = false;                     ///< over packed sequences
  const formats::Format* state = nullptr;  ///< the format of the state between steps
};

/// Calls the operator on operands by the names of `recurrent_arguments` (tensors of one argument
/// stand one after the other) and of the constants. The result is that of torch.nn's layer.
MethodBuilder::JitValue* call_recurrent(MethodBuilder& builder, const RecurrentOp& op,
                                        const RecurrentForm& form,
                                        const MethodBuilder::Operands& operands);

}  // namespace mase::libtorch
