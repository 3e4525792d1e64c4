// SPDX-License-Identifier: Apache-2.0
// Hides the differences between LibTorch versions 1.13 to 2.14.
#pragma once

#include <c10/util/Optional.h>

namespace mase::libtorch::compat {

/// The optional type of LibTorch's functions: its own type in 1.13, an alias of the standard one
/// later.
template <class T>
using optional = c10::optional<T>;

}  // namespace mase::libtorch::compat
