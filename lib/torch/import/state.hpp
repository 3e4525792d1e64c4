// SPDX-License-Identifier: Apache-2.0
// Models that keep tensors from one run to the next: what they keep becomes inputs and results, as
// torch.export makes it of buffers.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <map>
#include <optional>
#include <string>

#include "backend/backend.hpp"
#include "base/error.hpp"

namespace mase::libtorch {

/// What a run finds in the attributes that runs change, by their paths.
using State = std::map<std::string, c10::IValue>;

/// Thrown where a tensor of the model is changed in place that was not known as state.
class OwnTensorChanged : public Error {
 public:
  OwnTensorChanged(std::string path, const std::string& message)
      : Error(Fault::unsupported, message), path_(std::move(path)) {}
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Imports the module, again and again until what it keeps has the shapes that it finds. `graph`
/// has the module's tensors.
backend::Imported import_with_state(const torch::jit::Module& module, const ir::Graph& graph,
                                    const backend::ImportOptions& options,
                                    std::optional<at::ScalarType> converted);

/// The names, as inputs, of the tensor attributes that methods of the module change.
std::vector<std::string> names_of_state(const torch::jit::Module& module);

}  // namespace mase::libtorch
