// SPDX-License-Identifier: Apache-2.0
// The door of the sandbox: named outputs leave through it.
#pragma once

#include <string>
#include <vector>

namespace mase::sandbox {

/// Starts a process that keeps its rights and does nothing but this: it replaces the files
/// `outputs` by what this process hands it through write_file and write_file_with, and, when this
/// process has ended, removes those of `made` that are empty folders, in order. `y.npy` allows
/// `y_KEY.npy`, too: a model with several results names the keys.
void open_door(const std::vector<std::string>& outputs, const std::vector<std::string>& made);

}  // namespace mase::sandbox
