// SPDX-License-Identifier: Apache-2.0
// The module tree of an exported archive: one module per path with its parameters and buffers.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "ir/graph.hpp"

namespace mase::libtorch {

/// Modules by path, "" being the root. All share one compilation unit, and every class name in it
/// is unique: equal names in one tree make TorchScript's alias analysis run out of memory.
struct ModuleTree {
  std::shared_ptr<torch::jit::CompilationUnit> unit;
  std::map<std::string, torch::jit::Module, std::less<>> modules;
};

/// Builds the tree without methods. Leaves keep their torch.nn class name, so that the file imports
/// elsewhere as standard layers, except those in `custom`, which compute something else.
ModuleTree build_module_tree(const ir::Graph& graph, const std::set<std::string>& custom);

}  // namespace mase::libtorch
