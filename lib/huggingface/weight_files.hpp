// SPDX-License-Identifier: Apache-2.0
// The files of a folder that have its weights, in the forms that transformers has written.
#pragma once

#include <string>

#include "safetensors/safetensors.hpp"

namespace mase::huggingface {

/// The tensors of model.safetensors or of the files that its index names; without both, those of
/// pytorch_model.bin or of its index. Error(Fault::file) if the folder has none of them, or one
/// that is not sound. The files of safetensors are read when something reads a tensor, the others
/// here.
safetensors::Tensors read_weight_files(const std::string& folder);
/// Whether the folder has one of these files.
bool has_weight_files(const std::string& folder);

}  // namespace mase::huggingface
