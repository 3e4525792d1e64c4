// SPDX-License-Identifier: Apache-2.0
// Refusal of TorchScript code that LibTorch would run while it loads a file.
#pragma once

#include "base/zip_reader.hpp"

namespace mase::libtorch {

/// LibTorch compiles and runs the defaults of arguments and the constants of classes when it loads
/// them, and calls `__setstate__`. All code of the archive is parsed, by LibTorch's own parser, so
/// that there is one way to understand it: defaults and constants must be literals.
/// They and all else are nested less deeply than the parser's stack can hold.
/// Error(Fault::unsupported) naming file and line otherwise; LibTorch's exceptions for what is no
/// TorchScript.
void refuse_load_time_code(const ZipReader& archive);

}  // namespace mase::libtorch
