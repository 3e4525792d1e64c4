// SPDX-License-Identifier: Apache-2.0
// The module tree of an exported archive, with a module, its parameters and buffers for each path.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "ir/graph.hpp"

namespace mase::libtorch {

/// Modules by path; "" is the root. All share one compilation unit in which every class name is
/// unique, because equal names make TorchScript's alias analysis run out of memory.
struct ModuleTree {
  std::shared_ptr<torch::jit::CompilationUnit> unit;
  std::map<std::string, torch::jit::Module, std::less<>> modules;
};

/// Builds the tree without methods. Leaves keep the names of their torch.nn classes, so that other
/// programs import them as standard layers, except those in `custom`, which compute something else.
ModuleTree build_module_tree(const ir::Graph& graph, const std::set<std::string>& custom);

}  // namespace mase::libtorch
