// SPDX-License-Identifier: Apache-2.0
// Finds LibTorch on this machine; a packaged program was linked to LibTorch on another machine.
#pragma once

#include <string>
#include <vector>

namespace mase::backend {

/// The version of LibTorch that the program was built with, such as "2.13.0"; "" if without.
std::string libtorch_version();

/// If MASE_LIBTORCH is set, loads the libraries from that folder, which is a LibTorch, its lib/, or
/// the torch folder of a Python. Error(Fault::file) if it has no LibTorch of the right version.
void load_chosen_libtorch();

/// Finds folders with a LibTorch of the right version: from Torch_DIR, then in the Python
/// environments of VIRTUAL_ENV, CONDA_PREFIX and PATH, and among the user's own packages.
std::vector<std::string> find_libtorch();

/// Loads the libraries from such a folder, so that libmase_torch.so finds them. Error(Fault::file).
void load_libtorch(const std::string& folder);

/// The folder of the LibTorch that is loaded; "" if none is.
std::string loaded_libtorch();

}  // namespace mase::backend
