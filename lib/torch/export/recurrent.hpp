// SPDX-License-Identifier: Apache-2.0
// Writes recurrent layers and cells in TorchScript: as ATen's operator, or as steps (`run_steps`).
#pragma once

#include "formats/format.hpp"
#include "torch/export/method.hpp"
#include "torch/run/recurrent.hpp"

namespace mase::libtorch {

/// How to write a recurrent operator.
struct RecurrentForm {
  bool stepwise = false;                   ///< step by step, because a port has a format
  bool packed = false;                     ///< for packed sequences
  const formats::Format* state = nullptr;  ///< the format of the state between steps
};

/// Calls the operator. Operands are named as in `recurrent_arguments`, with all tensors of an
/// argument in sequence, and as the constants. The result is that of torch.nn's layer.
MethodBuilder::JitValue* call_recurrent(MethodBuilder& builder, const RecurrentOp& op,
                                        const RecurrentForm& form,
                                        const MethodBuilder::Operands& operands);

}  // namespace mase::libtorch
