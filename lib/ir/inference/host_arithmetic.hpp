// SPDX-License-Identifier: Apache-2.0
// TorchScript's operators on numbers and lists of the host.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/value.hpp"

namespace mase::ir {

/// The result of an operator, by its base name, on constants; nullopt for another operator, and for
/// operands that it does not take.
std::optional<Value> host_result(std::string_view op, const std::vector<Value>& operands);

}  // namespace mase::ir
