// SPDX-License-Identifier: Apache-2.0
// Where LibTorch is on this machine: a packaged program was linked to one of another machine.
#pragma once

#include <string>
#include <vector>

namespace mase::backend {

/// The version of LibTorch that the program was built with, "2.13.0"; "" when built without.
std::string libtorch_version();

/// Loads the libraries of the folder that MASE_LIBTORCH names, if it is set: a LibTorch, its lib/,
/// or the torch folder of a Python. Error(Fault::file) when there is none of the right version.
void load_chosen_libtorch();

/// Folders with a LibTorch of the right version, by Torch_DIR, then in the Python environments of
/// VIRTUAL_ENV, CONDA_PREFIX, PATH and the user's own packages.
std::vector<std::string> find_libtorch();

/// Loads the libraries of such a folder, so that libmase_torch.so finds them. Error(Fault::file).
void load_libtorch(const std::string& folder);

/// The folder of the LibTorch that is loaded; "" when none is.
std::string loaded_libtorch();

}  // namespace mase::backend
