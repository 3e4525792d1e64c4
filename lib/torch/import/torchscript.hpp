// SPDX-License-Identifier: Apache-2.0
// Imports TorchScript files by partial evaluation.
#pragma once

#include <string>

#include "backend/backend.hpp"
#include "ir/graph.hpp"

namespace mase::libtorch {

/// Imports a scripted or traced model in eval mode. The un-inlined program is evaluated with the
/// example inputs: values that depend on them become nodes, all others constants.
/// Error(Fault::file) for a file or example that does not work; Error(Fault::unsupported), with the
/// place in the model's source, for a program that is not a fixed graph.
backend::Imported import_with_notes(const std::string& path, const backend::ImportOptions& options);
inline ir::Graph import_torchscript(const std::string& path,
                                    const backend::ImportOptions& options) {
  return import_with_notes(path, options).graph;
}

/// Reads the signature of forward, of the model or of its part `submodule`.
backend::Signature read_signature(const std::string& path, const std::string& submodule = "");

}  // namespace mase::libtorch
