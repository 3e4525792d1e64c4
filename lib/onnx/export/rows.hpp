// SPDX-License-Identifier: Apache-2.0
// The table of ATen operators that ONNX can say: one row per operator.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "onnx/export/node_writer.hpp"

namespace mase::onnx {

/// How an operator is exported, all its overloads together.
struct ExportRow {
  std::string_view op;  ///< base name, "aten::add"
  std::function<void(NodeWriter&)> write;
};

/// nullptr for an operator without a row.
const ExportRow* find_export_row(std::string_view op);
const std::vector<ExportRow>& all_export_rows();

// A file of rows each.
std::vector<ExportRow> exported_activations();
std::vector<ExportRow> exported_arithmetic();
std::vector<ExportRow> exported_indexing();
std::vector<ExportRow> exported_layers();
std::vector<ExportRow> exported_movement();
std::vector<ExportRow> exported_pools();
std::vector<ExportRow> exported_recurrent();
std::vector<ExportRow> exported_reductions();
std::vector<ExportRow> exported_shapes();

}  // namespace mase::onnx
