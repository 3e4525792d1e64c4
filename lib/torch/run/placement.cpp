// SPDX-License-Identifier: Apache-2.0
// Goes through the arguments of an operator's schema.
#include "torch/run/placement.hpp"

#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <string_view>

namespace mase::libtorch {
namespace {

/// Arguments that LibTorch reads on the CPU only, wherever the data lies: lengths of sequences and
/// places where a tensor is split.
struct HostArgument {
  std::string_view op, argument;
};
constexpr HostArgument host_arguments[] = {
    {"aten::_pack_padded_sequence", "lengths"},
    {"aten::_pad_packed_sequence", "batch_sizes"},
    {"aten::tensor_split", "tensor_indices_or_sections"},
};

bool is_read_on_host(std::string_view op, std::string_view argument) {
  return std::ranges::any_of(host_arguments, [&](const HostArgument& row) {
    return row.op == op && row.argument == argument;
  });
}

/// Whether a type is of this kind, or an optional value or a list of it.
bool is_of_kind(const c10::Type& type, c10::TypeKind kind) {
  return type.kind() == kind ||
         std::ranges::any_of(type.containedTypes(),
                             [&](const c10::TypePtr& inner) { return is_of_kind(*inner, kind); });
}

}  // namespace

void place_on(c10::Device device, PlanStep& step) {
  const c10::FunctionSchema& schema = step.aten->schema();
  const auto is = [&](const c10::Argument& argument, c10::TypeKind kind) {
    return is_of_kind(*argument.type(), kind);
  };
  const bool follows_tensors = std::ranges::any_of(
      schema.arguments(),
      [&](const c10::Argument& argument) { return is(argument, c10::TypeKind::TensorType); });
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    c10::IValue& constant = step.arguments[i].constant;
    if (is_read_on_host(schema.name(), argument.name())) step.on_host.push_back(i);
    if (is(argument, c10::TypeKind::DeviceObjType) && (constant.isDevice() || !follows_tensors))
      constant = device;
  }
}

}  // namespace mase::libtorch
