// SPDX-License-Identifier: Apache-2.0
// Loading of TorchScript modules that were checked, from memory.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "base/zip_reader.hpp"

namespace mase::libtorch {

/// The module in an archive that checkpoint::open_model or open_tensors gave. LibTorch reads the
/// bytes that were checked, laid out anew, and no file. Error(Fault::unsupported) for code that
/// would run while it loads; other exceptions are LibTorch's.
torch::jit::Module load_module(const ZipReader& archive);

}  // namespace mase::libtorch
