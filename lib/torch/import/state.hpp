// SPDX-License-Identifier: Apache-2.0
// Imports models that keep tensors between runs. This state becomes inputs and results, as
// torch.export does with buffers.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <map>
#include <optional>
#include <string>

#include "backend/backend.hpp"
#include "base/error.hpp"

namespace mase::libtorch {

/// The values, at the start of a run, of the attributes that runs change, by path.
using State = std::map<std::string, c10::IValue>;

/// Thrown if a tensor of the model that was not known as state is changed in place.
class OwnTensorChanged : public Error {
 public:
  OwnTensorChanged(std::string path, const std::string& message)
      : Error(Fault::unsupported, message), path_(std::move(path)) {}
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Imports the module, repeatedly until the state that it keeps has the shapes that it starts with.
/// `graph` has the module's tensors.
backend::Imported import_with_state(const torch::jit::Module& module, const ir::Graph& graph,
                                    const backend::ImportOptions& options,
                                    std::optional<at::ScalarType> converted);

/// The input names of the tensor attributes that methods of the module change.
std::vector<std::string> names_of_state(const torch::jit::Module& module);

}  // namespace mase::libtorch
