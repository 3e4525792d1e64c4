// SPDX-License-Identifier: Apache-2.0
// Files and folders of models that commands write: one row for each kind, which the ending of its
// name says.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/tree.hpp"
#include "driver/onnx_file.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// What a writer needs. `request` is as the user gave it.
struct ModelFile {
  const ir::Graph& graph;
  const Tree& info;  ///< metadata for a checkpoint
  std::string path;
  const OnnxFileRequest& request;
  const ir::Graph* before = nullptr;  ///< the model before passes, where it is known
};

struct ModelWriter {
  std::string_view ending, kind;  ///< ".onnx", "ONNX"
  std::span<const std::string_view>
      dialects;  ///< what --format may say; "float" leaves formats out
  /// Writes the file and describes it: numbers of nodes and tensors, and what the kind adds.
  Tree (*write)(const ModelFile& file);

  bool is_folder() const { return ending == "/"; }
};

/// The row of a file's name. Error(Fault::config) with all endings if there is none, if the request
/// has what the kind has not, or if the file exists and may not be replaced. To be called before a
/// command begins its work.
const ModelWriter& writer_of(const std::string& path, const OnnxFileRequest& request,
                             bool overwrite);

/// Lets the sandbox write it.
void will_write(const ModelWriter& writer, const std::string& path);

}  // namespace mase::driver
