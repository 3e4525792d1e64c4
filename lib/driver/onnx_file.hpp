// SPDX-License-Identifier: Apache-2.0
// ONNX files that commands write.
#pragma once

#include <cstdint>
#include <string>

#include "base/tree.hpp"
#include "ir/graph.hpp"
#include "onnx/export.hpp"

namespace mase::driver {

/// How to write an ONNX file.
struct OnnxFileRequest {
  std::int64_t opset = onnx::default_export_opset;  ///< of ONNX's own domain
  /// What formats of ports become: "float", "qdq" or "qonnx"; "auto" is qdq where there are any.
  std::string format = "auto";
  std::string max_shard_size = "5GB";  ///< of a folder's files of weights
  std::string source;                  ///< for a new folder: the one with the model's other files
  bool allow_loss = false;             ///< leave out formats that the file cannot say
};

/// Error(Fault::config) if the file exists.
void require_new_file(const std::string& path);
/// Writes the graph, after the passes that take apart what ONNX has no operator for. Describes the
/// file: opset, format, numbers of nodes and tensors, passes, losses.
Tree write_onnx_file(const ir::Graph& graph, const std::string& path,
                     const OnnxFileRequest& request);
/// A line about the file, and one for each pass and loss.
std::string file_text(const std::string& path, const Tree& document);

}  // namespace mase::driver
