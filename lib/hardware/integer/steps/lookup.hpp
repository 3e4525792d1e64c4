// SPDX-License-Identifier: Apache-2.0
// Functions of one input as tables.
#pragma once

#include <memory>
#include <string>

#include "hardware/integer/codes.hpp"

namespace mase::ir {
struct CustomHardware;  // ir/custom_op.hpp
}

namespace mase::integer {

/// y = table[low bits of x]: any function of one input.
struct Lookup {
  std::string function;  ///< "sigmoid"
  Codes table;           ///< 2^width entries, indexed by the input code's bits
  /// The user's module that computes it, and keeps no table in memory; null for ours.
  std::shared_ptr<const ir::CustomHardware> external = nullptr;
};

}  // namespace mase::integer
