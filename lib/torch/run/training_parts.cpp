// SPDX-License-Identifier: Apache-2.0
// Layers of a plan that look at the whole batch, of which it trains on a part.
#include "torch/run/plan.hpp"
#include "torch/run/shared_norm.hpp"

namespace mase::libtorch {

/// Runs a batch norm with the statistics of all parts of the batch, if there are several.
bool Executor::Plan::call_shared_norm() {
  enum { input, weight, bias, mean, variance, training, momentum, epsilon };
  BatchParts* const parts = batch_parts_in_use();
  if (!parts || !stack_[training].toBool()) return false;
  const auto tensor = [&](int i) {
    return stack_[i].toOptional<at::Tensor>().value_or(at::Tensor());
  };
  const at::Tensor out =
      shared_norm({tensor(input), tensor(weight), tensor(bias), tensor(mean), tensor(variance),
                   stack_[momentum].toDouble(), stack_[epsilon].toDouble()},
                  *parts);
  stack_.resize(1);
  stack_[input] = out;
  return true;
}

}  // namespace mase::libtorch
