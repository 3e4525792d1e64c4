// SPDX-License-Identifier: Apache-2.0
// A backend whose reading of model files happens in a child process.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace mase::backend {

/// Forwards to `inner`; signatures, imports and state_dicts are read by a child without rights
/// (sandbox/child.hpp), which hands back the graph. A file whose code crashes LibTorch is an
/// Error(Fault::file) that names the operator. Imports run on one thread.
std::unique_ptr<Backend> isolated(Backend& inner);

}  // namespace mase::backend
