// SPDX-License-Identifier: Apache-2.0
// The tables [custom_ops.NAME] of a configuration, with the files that they name.
#pragma once

#include <string>
#include <vector>

#include "base/tree.hpp"
#include "ir/custom_op.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// Reads the tables. Files of [custom_ops.NAME.hardware] (`files` by name, `table` a .npy) lie in
/// the folder of the configuration at `path` or below; a resolved configuration has what stood in
/// them in their place.
ir::CustomOps read_custom_op_tables(const Tree& tables, const std::string& path,
                                    Diagnostics& diagnostics);
/// The tables of the file at `path` (--custom-ops); DiagnosticsError with all problems.
ir::CustomOps read_custom_op_file(const std::string& path);
/// The tables with everything in them.
Tree write_custom_op_tables(const ir::CustomOps& ops);

/// Gives the custom ops of a graph that is made already these definitions: of hardware only.
/// Error(Fault::config) where the graph has no such op, or one of other inputs and tensors.
void redefine_custom_ops(ir::Graph& graph, const ir::CustomOps& ops, const std::string& model);
/// Error(Fault::config) where the graph of a checkpoint has other definitions than these.
void check_custom_ops(const ir::Graph& graph, const ir::CustomOps& ops, const std::string& model);

/// The files of SystemVerilog that a graph brings along: "energy.sv of the op 'energy'". Those that
/// `own`, ops of the user's configuration, has with the same text are the user's, and left out.
std::vector<std::string> foreign_files(const ir::Graph& graph, const ir::CustomOps& own);
/// Error(Fault::config) where there are such: simulators and synthesis do what stands in them,
/// with the user's rights.
void refuse_foreign_files(const ir::Graph& graph, const ir::CustomOps& own,
                          const std::string& model);
/// Warns of them.
void warn_of_foreign_files(const ir::Graph& graph, const ir::CustomOps& own,
                           const std::string& model);

}  // namespace mase::driver
