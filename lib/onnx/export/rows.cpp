// SPDX-License-Identifier: Apache-2.0
// Joins the files of rows of the export, and searches them.
#include "onnx/export/rows.hpp"

#include <iterator>
#include <map>
#include <utility>

#include "ir/op_table.hpp"

namespace mase::onnx {
namespace {

using ExportFile = std::vector<ExportRow> (*)();
constexpr ExportFile export_files[] = {exported_activations, exported_arithmetic, exported_indexing,
                                       exported_layers,      exported_movement,   exported_pools,
                                       exported_recurrent,   exported_reductions, exported_shapes};

}  // namespace

const std::vector<ExportRow>& all_export_rows() {
  static const std::vector<ExportRow> rows = [] {
    std::vector<ExportRow> all;
    for (const ExportFile file : export_files) {
      std::vector<ExportRow> some = file();
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
  }();
  return rows;
}

const ExportRow* find_export_row(std::string_view op) {
  static const auto index = [] {
    std::map<std::string_view, const ExportRow*> by_op;
    for (const ExportRow& row : all_export_rows()) by_op.emplace(row.op, &row);
    return by_op;
  }();
  const auto found = index.find(ir::base_op(op));
  return found == index.end() ? nullptr : found->second;
}

}  // namespace mase::onnx
