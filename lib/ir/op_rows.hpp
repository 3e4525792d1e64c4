// SPDX-License-Identifier: Apache-2.0
// The parts of the op table: one function per subject returns its rows, and op_table.cpp joins
// them. A new op is one row: passes go by its family, and LibTorch and TorchScript by its
// operators. An op with hardware has a row in hardware/integer, too.
#pragma once

#include <utility>
#include <vector>

#include "ir/op_table.hpp"

namespace mase::ir {

std::vector<OpRow> layer_rows();
std::vector<OpRow> recurrent_rows();
std::vector<OpRow> activation_rows();
std::vector<OpRow> arithmetic_rows();
std::vector<OpRow> shape_rows();

inline CallRow function(std::string_view aten, std::string_view target,
                        PythonSignature signature = {}) {
  return {.aten = aten, .target = target, .signature = std::move(signature)};
}
inline CallRow method(std::string_view aten, std::string_view target) {
  return {.aten = aten, .kind = NodeKind::call_method, .target = target};
}
/// A method that takes a list of sizes as separate arguments: x.view(a, b).
inline CallRow variadic_method(std::string_view aten, std::string_view target) {
  CallRow call = method(aten, target);
  call.variadic = true;
  return call;
}
/// An operator that belongs to another row when it is called as a function.
inline CallRow shared(std::string_view aten) { return {.aten = aten}; }

inline PythonParameter required(std::string_view name, std::string_view aten) {
  return {name, aten, true, Value()};
}
inline PythonParameter optional(std::string_view name, std::string_view aten, Value fallback) {
  return {name, aten, false, std::move(fallback)};
}

/// A class of torch.nn that is a leaf, by its full name.
inline LayerRow layer(std::string_view class_name, MaseType type = MaseType::module_related_func) {
  return {.class_name = class_name, .type = type};
}

/// Rows of arguments that are configuration, and so have no port.
inline std::vector<ArgRow> configuration(const std::vector<std::string_view>& names) {
  std::vector<ArgRow> args;
  for (std::string_view name : names) args.push_back({name, ""});
  return args;
}
/// Rows of the operator's tensor `self` and of configuration after it.
inline std::vector<ArgRow> self_and(const std::vector<std::string_view>& names) {
  std::vector<ArgRow> args = configuration(names);
  args.insert(args.begin(), {"self", "data_in"});
  return args;
}

}  // namespace mase::ir
