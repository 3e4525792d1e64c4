// SPDX-License-Identifier: Apache-2.0
// The operators a graph may run: dispatcher operators under aten::, host arithmetic on sizes, and
// operators of our own that PyTorch writes as several.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mase::libtorch {

/// A function on numbers and lists ("aten::floordiv.int") or of our own ("mase::softsign"):
/// arguments in order.
using HostFunction = std::function<c10::IValue(const std::vector<c10::IValue>&)>;

/// An operator that is computed here, not by ATen: its name, its arguments in order, and what runs
/// it.
struct HostOperator {
  std::string_view name;
  std::vector<std::string_view> arguments;
  HostFunction run;
  bool reads_values = false;  ///< reads a number out of a tensor of one element
  bool replaces = false;  ///< stands in for TorchScript's, which ends the program for some numbers
};

/// The host operator of this name, or nullptr: those of our table, and every other function of
/// TorchScript from numbers and text to a number ("aten::pow.int_float").
const HostOperator* find_host_operator(std::string_view op);

/// The row of our own table, or nullptr.
const HostOperator* find_own_operator(std::string_view op);

/// TorchScript's operator of this name when it is allowed, numbers and text go in and one number
/// comes out, kept once it was asked for; else nullptr. From any thread.
const HostOperator* find_scalar_operator(std::string_view op);

/// The dispatcher's operator for "aten::add.Tensor"; nothing when it does not exist.
std::optional<c10::OperatorHandle> find_operator(std::string_view op);

/// Whether a base name ("aten::rand") gives random or uninitialised results or reads files.
bool is_impure(std::string_view base);

/// "aten::add.Tensor"
std::string full_name(const c10::FunctionSchema& schema);

/// Whether TorchScript has the operator, in its own registry or by the dispatcher.
bool is_known_to_torchscript(std::string_view op);

/// Why a graph may not run this operator ("draws random numbers", ...), or "" when it may. Every
/// way to an operator asks this, or is_impure and ir::is_allowed.
std::string refusal(std::string_view op);

}  // namespace mase::libtorch
