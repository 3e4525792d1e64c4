// SPDX-License-Identifier: Apache-2.0
// Loads checked TorchScript modules from memory.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "base/zip_reader.hpp"

namespace mase::libtorch {

/// Loads the module in an archive opened by checkpoint::open_model or open_tensors. LibTorch reads
/// no file, only the checked bytes in a new archive. Error(Fault::unsupported) for code that would
/// run during loading; other exceptions are LibTorch's.
torch::jit::Module load_module(const ZipReader& archive);

}  // namespace mase::libtorch
