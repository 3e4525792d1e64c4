// SPDX-License-Identifier: Apache-2.0
// Names of dtypes in TorchScript text.
#pragma once

#include <string>

namespace mase::libtorch {

/// Replaces names of dtypes by their numbers, because TorchScript does not know the names.
std::string with_dtype_numbers(std::string text);

}  // namespace mase::libtorch
