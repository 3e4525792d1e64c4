// SPDX-License-Identifier: Apache-2.0
// Graphs of ATen operators as ONNX models.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

/// The opsets of ONNX's own domain that an export can be in.
inline constexpr std::int64_t oldest_export_opset = 21, newest_export_opset = 23,
                              default_export_opset = 21;

/// What the formats of ports become.
enum class FormatDialect {
  none,  ///< nothing: the model is that of level float
  qdq,   ///< QuantizeLinear and DequantizeLinear
  qonnx  ///< Quant and BipolarQuant of QONNX
};
inline constexpr std::string_view qonnx_domain = "qonnx.custom_op.general";

/// How to export a graph.
struct ExportOptions {
  std::int64_t opset = default_export_opset;
  std::string producer_version;  ///< of this program
  FormatDialect dialect = FormatDialect::none;
  /// Leaves out formats that the dialect cannot say: tensors then have their rounded values, and
  /// what the graph computes stays float.
  bool allow_loss = false;
};

struct ExportNotes {
  std::vector<std::string> losses;  ///< a line for each format that was left out
  /// The values of the graph's nodes, by the nodes' names.
  std::map<std::string, std::vector<std::string>> results;
};

/// The graph in eval mode. Initializers have the paths of the tensors, nodes the names that the
/// older exporter of PyTorch gives them ("/block/block.0/Gemm"). The first dimension of the inputs
/// is the symbol "batch" if the graph takes other batches than its example's; other sizes are
/// fixed. Names, doc strings, metadata and symbols of the file that the graph came from are written
/// again; symbols besides the batch where all nodes can be exported for any size of them. The model
/// holds the graph's text too, from which import_model restores what ONNX does not say (see
/// stored_graph.hpp); a dialect of formats has what ONNX says alone.
/// Error(Fault::unsupported) that names every node without a counterpart, or every format.
/// `notes`, if given, gets what the model does not say.
Model export_model(const ir::Graph& graph, const ExportOptions& options,
                   ExportNotes* notes = nullptr);

/// The passes that take apart the nodes for which ONNX has no operator, such as layers of
/// attention; to be run before an export. Error(Fault::unsupported) would name them otherwise.
std::set<std::string> passes_before_export(const ir::Graph& graph);

}  // namespace mase::onnx
