// SPDX-License-Identifier: Apache-2.0
// The door of the sandbox, through which named outputs are written.
#pragma once

#include <string>
#include <vector>

namespace mase::sandbox {

/// Starts a process that keeps its rights and does only this: it replaces the files `outputs` with
/// the contents that this process sends through write_file and write_file_with. When this process
/// has ended, it removes the folders of `made` that are empty, in order. `y.npy` also allows
/// `y_KEY.npy`, because a model with several results names the keys.
void open_door(const std::vector<std::string>& outputs, const std::vector<std::string>& made);

}  // namespace mase::sandbox
