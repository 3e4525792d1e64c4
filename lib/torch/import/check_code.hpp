// SPDX-License-Identifier: Apache-2.0
// Refuses TorchScript code that LibTorch would run while it loads a file.
#pragma once

#include "base/zip_reader.hpp"

namespace mase::libtorch {

/// When LibTorch loads code, it compiles and runs the defaults of arguments and the constants of
/// classes, and calls `__setstate__`. So this function parses all code of the archive with
/// LibTorch's own parser, so that both understand it alike, and requires defaults and constants to
/// be literals. It also limits the nesting of code to what the parser's stack can hold. Throws an
/// Error(Fault::unsupported) that names file and line otherwise, and LibTorch's exceptions for text
/// that is not TorchScript.
void refuse_load_time_code(const ZipReader& archive);

}  // namespace mase::libtorch
