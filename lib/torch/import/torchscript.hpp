// SPDX-License-Identifier: Apache-2.0
// Import of TorchScript files by partial evaluation.
#pragma once

#include <string>

#include "backend/backend.hpp"
#include "ir/graph.hpp"

namespace mase::libtorch {

/// Imports a scripted or traced model in eval mode. The un-inlined program is evaluated with the
/// example inputs; what depends on them becomes nodes, everything else constants.
/// Error(Fault::file) for a file or example that does not work, Error(Fault::unsupported), with the
/// place in the model's source, for programs that are no fixed graph.
backend::Imported import_with_notes(const std::string& path, const backend::ImportOptions& options);
inline ir::Graph import_torchscript(const std::string& path,
                                    const backend::ImportOptions& options) {
  return import_with_notes(path, options).graph;
}

/// The names of the arguments of forward, of the model or its part.
backend::Signature read_signature(const std::string& path, const std::string& submodule = "");

}  // namespace mase::libtorch
