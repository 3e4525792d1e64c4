// SPDX-License-Identifier: Apache-2.0
// torch.tensor of numbers and nested lists, some of which are sizes.
#include <ATen/core/ivalue.h>

#include <algorithm>

#include "base/error.hpp"
#include "torch/import/interpreter.hpp"

namespace mase::libtorch {

void Importer::tensor_of(const jit::Node* node, Environment& environment) {
  const std::vector<Ref> inputs = inputs_of(node, environment);
  enum { data, dtype, device, count };
  const bool known = std::ranges::all_of(inputs, [](const Ref& cell) { return is_static(*cell); });
  if (known || inputs.size() < count || is_tensor(*inputs[data]))
    return apply_operator(node, environment);
  // PyTorch determines its type from all numbers together.
  const at::Tensor example = run_jit(node, inputs).toTensor();
  const Ref type = constant_cell(static_cast<std::int64_t>(example.scalar_type()));
  const Ref result = stacked(inputs[data], {type, inputs[device]}, source_of(node));
  environment[node->output()] = result;
}

Ref Importer::stacked(const Ref& numbers, const std::vector<Ref>& type_and_device,
                      const SourceText& source) {
  const Ref none = constant_cell({});
  Ref result;
  if (is_container(*numbers) || numbers->value.isList()) {
    Cell rows;
    rows.kind = Cell::Kind::list;
    rows.type = c10::ListType::ofTensors();
    for (const Ref& item : expanded(numbers)->items)
      rows.items.push_back(stacked(item, type_and_device, source));
    const Ref first = constant_cell(std::int64_t{0});
    result = builder_.emit({"aten::stack",
                            {{"tensors", make_cell(std::move(rows))}, {"dim", first}},
                            {false, true},
                            source});
  } else {
    result = builder_.emit({"aten::scalar_tensor",
                            {{"s", numbers},
                             {"dtype", type_and_device[0]},
                             {"layout", none},
                             {"device", type_and_device[1]},
                             {"pin_memory", none}},
                            {false, false, true, type_and_device[1]->value.isNone(), true},
                            source});
  }
  result->from_sizes = true;
  return result;
}

}  // namespace mase::libtorch
