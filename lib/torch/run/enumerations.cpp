// SPDX-License-Identifier: Apache-2.0
// The valid numbers for each kind of enumeration.
#include "torch/run/enumerations.hpp"

#include <ATen/core/jit_type.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <string_view>

namespace mase::libtorch {
namespace {

/// Whether it is a real, integer, complex or boolean type. Quantized, packed and 8-bit float types
/// lack most operators.
bool is_element_type(std::int64_t number) {
  const bool plain = number >= 0 && number <= static_cast<std::int64_t>(at::kBool);
  return plain || number == static_cast<std::int64_t>(at::kBFloat16);
}

bool is_memory_format(std::int64_t number) {
  return number >= 0 && number < static_cast<std::int64_t>(at::MemoryFormat::NumOptions);
}

bool is_layout(std::int64_t number) { return number == static_cast<std::int64_t>(at::kStrided); }

struct Enumeration {
  c10::TypeKind type;
  std::string_view names;  ///< arguments that TorchScript declares as integers
  std::string_view what;
  bool (*has)(std::int64_t);
};

constexpr Enumeration enumerations[] = {
    {c10::TypeKind::ScalarTypeType, "dtype", "a type of elements", is_element_type},
    {c10::TypeKind::LayoutType, "layout", "the layout of dense tensors (0)", is_layout},
    {c10::TypeKind::MemoryFormatType, "memory_format", "an order in memory (0 to 3)",
     is_memory_format},
};

const c10::Type& without_optional(const c10::Type& type) {
  return type.kind() == c10::TypeKind::OptionalType ? *type.containedType(0) : type;
}

const Enumeration* find(const c10::Argument& argument) {
  const c10::TypeKind kind = without_optional(*argument.real_type()).kind();
  for (const Enumeration& one : enumerations)
    if (kind == one.type || (kind == c10::TypeKind::IntType && argument.name() == one.names))
      return &one;
  return nullptr;
}

std::string given(const c10::Argument& argument, std::string_view what, const std::string& value) {
  return "takes " + std::string(what) + " as '" + argument.name() + "', given " + value;
}

}  // namespace

bool is_enumeration(const c10::Argument& argument) {
  return find(argument) != nullptr ||
         without_optional(*argument.type()).kind() == c10::TypeKind::DeviceObjType;
}

std::string enumeration_demand(const c10::Argument& argument, const c10::IValue& value) {
  if (value.isDevice() && !value.toDevice().is_cpu())
    return given(argument, "the device cpu", value.toDevice().str()) +
           ": move the model with .cpu() before it is scripted or traced";
  const Enumeration* const one = find(argument);
  if (!one || !value.isInt() || one->has(value.toInt())) return "";
  return given(argument, one->what, std::to_string(value.toInt()));
}

std::string enumeration_demand(const c10::FunctionSchema& schema,
                               const std::vector<c10::IValue>& arguments) {
  const std::size_t count = std::min(arguments.size(), schema.arguments().size());
  for (std::size_t i = 0; i < count; ++i)
    if (std::string unmet = enumeration_demand(schema.arguments()[i], arguments[i]); !unmet.empty())
      return unmet;
  return "";
}

}  // namespace mase::libtorch
