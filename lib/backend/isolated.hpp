// SPDX-License-Identifier: Apache-2.0
// A backend that reads model files in a child process.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace mase::backend {

/// Makes a backend that forwards to `inner`. A child without rights (sandbox/child.hpp) reads
/// signatures, model files and state_dicts, and returns the result. If code in a file crashes
/// LibTorch, an Error(Fault::file) names the operator. Imports run on one thread.
std::unique_ptr<Backend> isolated(Backend& inner);

}  // namespace mase::backend
