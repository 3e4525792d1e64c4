// SPDX-License-Identifier: Apache-2.0
// The operators that a graph may run: dispatcher operators under aten::, host arithmetic on sizes,
// and operators of mase, which PyTorch expresses as several.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mase::libtorch {

/// A function on numbers and lists ("aten::floordiv.int") or an operator of mase
/// ("mase::softsign"). It takes its arguments in order.
using HostFunction = std::function<c10::IValue(const std::vector<c10::IValue>&)>;

/// An operator that is computed here instead of by ATen: its name, the names of its arguments in
/// order, and its function.
struct HostOperator {
  std::string_view name;
  std::vector<std::string_view> arguments;
  HostFunction run;
  bool reads_values = false;  ///< reads a number from a tensor of one element
  bool replaces = false;      ///< replaces TorchScript's, which crashes for some numbers
};

/// The host operator of this name, or nullptr. It is in the table of mase, or is any other function
/// of TorchScript from numbers and text to a number ("aten::pow.int_float").
const HostOperator* find_host_operator(std::string_view op);

/// The operator of this name in the table of mase, or nullptr.
const HostOperator* find_own_operator(std::string_view op);

/// TorchScript's operator of this name if it is allowed and computes a number from numbers and
/// text, otherwise nullptr. Found operators are cached. Thread-safe.
const HostOperator* find_scalar_operator(std::string_view op);

/// The dispatcher's operator of a name such as "aten::add.Tensor"; nothing if there is none.
std::optional<c10::OperatorHandle> find_operator(std::string_view op);

/// Whether an operator ("aten::rand") has random or uninitialised results, or reads files.
bool is_impure(std::string_view base);

/// The name with the overload, such as "aten::add.Tensor".
std::string full_name(const c10::FunctionSchema& schema);

/// Whether TorchScript has the operator, in its own registry or in the dispatcher.
bool is_known_to_torchscript(std::string_view op);

/// The reason why a graph may not run this operator, or "" if it may. Every path to an operator
/// calls this function, or is_impure and ir::is_allowed.
std::string refusal(std::string_view op);

}  // namespace mase::libtorch
