// SPDX-License-Identifier: Apache-2.0
// What the export tests share: quantizing every port, running an archive by TorchScript, comparing.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

#include "ir/evaluator.hpp"
#include "ir/graph.hpp"

namespace mase::test {

/// A folder that is removed with this object.
struct Folder {
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

/// A format on every port of every quantizable node, another one for each kind of port.
void quantize_all(ir::Graph& graph);

/// Normal numbers for every placeholder.
std::vector<Array> inputs_of(const ir::Graph& graph);

ir::Results executed(const ir::Graph& graph, const std::vector<Array>& inputs);
ir::Results called(torch::jit::Module& module, const std::vector<Array>& inputs);
/// What TorchScript itself computes with the model of a file.
ir::Results called(const std::string& path, const std::vector<Array>& inputs);
bool same(const ir::Results& a, const ir::Results& b);

/// Exports the graph and checks that TorchScript gives the executor's bits on three calls.
void check_three_calls(const ir::Graph& graph, const std::vector<Array>& inputs);

/// One case of check_stock.py: the checkpoint, its inputs, what the executor computes, and
/// its names where no tensor is coded.
void write_stock_case(const ir::Graph& graph, const std::vector<Array>& inputs,
                      const std::string& folder);

/// Parameters and buffers in the order of the state_dict.
std::vector<std::string> state_names(const torch::jit::Module& module);

}  // namespace mase::test
