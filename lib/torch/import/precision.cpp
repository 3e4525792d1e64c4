// SPDX-License-Identifier: Apache-2.0
// Does what model.float() does, on a loaded TorchScript module.
#include "torch/import/precision.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace mase::libtorch {

namespace jit = torch::jit;

namespace {

/// Replaces every tensor in a value by f(tensor).
void replace_tensors(c10::IValue& value, const std::function<at::Tensor(const at::Tensor&)>& f) {
  if (value.isTensor() && value.toTensor().defined()) {
    value = f(value.toTensor());
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> tensors = value.toTensorList();
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors.set(i, f(tensors.get(i)));
  } else if (value.isModule()) {
    const auto object = value.toObject();
    for (std::size_t i = 0; i < object->type()->numAttributes(); ++i) {
      c10::IValue slot = object->getSlot(i);
      replace_tensors(slot, f);
      object->setSlot(i, std::move(slot));
    }
  }
}

void each_tensor(const jit::Module& module, const std::function<void(const at::Tensor&)>& see) {
  c10::IValue value = module._ivalue();
  replace_tensors(value, [&](const at::Tensor& tensor) {
    see(tensor);
    return tensor;
  });
}

}  // namespace

std::optional<at::ScalarType> other_precision(const jit::Module& module) {
  std::optional<at::ScalarType> found;
  bool several = false;
  each_tensor(module, [&](const at::Tensor& tensor) {
    if (!tensor.is_floating_point()) return;
    several = several || (found && *found != tensor.scalar_type());
    found = tensor.scalar_type();
  });
  const bool known = found == at::kDouble || found == at::kHalf || found == at::kBFloat16;
  return known && !several ? found : std::nullopt;
}

void use_float32(const jit::Module& module, at::ScalarType precision) {
  using Memory = std::pair<const void*, std::vector<std::int64_t>>;
  std::map<Memory, at::Tensor> made;
  c10::IValue value = module._ivalue();
  replace_tensors(value, [&](const at::Tensor& tensor) {
    if (tensor.scalar_type() != precision) return tensor;
    std::vector<std::int64_t> layout = tensor.sizes().vec();
    layout.insert(layout.end(), tensor.strides().begin(), tensor.strides().end());
    at::Tensor& copy = made[{tensor.data_ptr(), std::move(layout)}];
    if (!copy.defined())
      copy = tensor.detach().to(at::kFloat).set_requires_grad(tensor.requires_grad());
    return copy;
  });
}

}  // namespace mase::libtorch
