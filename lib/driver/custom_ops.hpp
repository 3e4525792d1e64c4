// SPDX-License-Identifier: Apache-2.0
// Reads the [custom_ops.NAME] tables of a configuration and the files that they name.
#pragma once

#include <string>
#include <vector>

#include "base/tree.hpp"
#include "ir/custom_op.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// Reads the tables. The files of [custom_ops.NAME.hardware] (`files` by name, `table` a .npy) must
/// be in the folder of the configuration at `path` or below it. A resolved configuration holds the
/// contents of these files instead of their names.
ir::CustomOps read_custom_op_tables(const Tree& tables, const std::string& path,
                                    Diagnostics& diagnostics);
/// Reads the tables of the file at `path` (--custom-ops). DiagnosticsError with all problems.
ir::CustomOps read_custom_op_file(const std::string& path);
/// Writes the ops as tables, including the contents of their files.
Tree write_custom_op_tables(const ir::CustomOps& ops);

/// Redefines custom ops of an existing graph; only their hardware may differ. Error(Fault::config)
/// if the graph has no such op, or one with other inputs, tensors or MACs.
void redefine_custom_ops(ir::Graph& graph, const ir::CustomOps& ops, const std::string& model);
/// Error(Fault::config) if the graph of a checkpoint defines one of these ops differently.
void check_custom_ops(const ir::Graph& graph, const ir::CustomOps& ops, const std::string& model);

/// Lists the SystemVerilog files that came with a graph, as "energy.sv of the op 'energy'". Files
/// that `own`, the ops of the user's configuration, has with the same text are left out.
std::vector<std::string> foreign_files(const ir::Graph& graph, const ir::CustomOps& own);
/// Error(Fault::config) if there are such files: simulators and synthesis tools execute them with
/// the user's rights.
void refuse_foreign_files(const ir::Graph& graph, const ir::CustomOps& own,
                          const std::string& model);
/// Prints a warning if there are such files.
void warn_of_foreign_files(const ir::Graph& graph, const ir::CustomOps& own,
                           const std::string& model);

}  // namespace mase::driver
