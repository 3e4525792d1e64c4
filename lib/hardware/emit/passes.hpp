// SPDX-License-Identifier: Apache-2.0
// The passes that write hardware, under the names of the reference system: each writes its part of
// the hardware folder for the design that the graph's hardware metadata stands for.
#pragma once

#include "hardware/emit/emit.hpp"
#include "passes/pass.hpp"

namespace mase::emit {

/// One set of options, so that a command line can set all passes at once.
struct EmitPassOptions : EmitOptions {
  std::string top_name;
  static constexpr auto fields() {
    return std::tuple_cat(EmitOptions::fields(),
                          std::tuple{Field{"top_name", &EmitPassOptions::top_name,
                                           "name of the top module; empty: the graph's name"}});
  }
};

/// Top module, AXI4-Stream wrapper, file lists, Makefile, design.json, Vivado project, graph.txt.
struct EmitVerilogTop {
  static constexpr passes::PassDoc doc{"emit_verilog_top", passes::PassKind::interface,
                                       "Write the top module and the files around it."};
  using Options = EmitPassOptions;
  static passes::Result run(ir::Graph& graph, const Options& options, passes::PassContext& context);
};

/// The hardware modules that the design uses.
struct EmitInternalRtl {
  static constexpr passes::PassDoc doc{"emit_internal_rtl", passes::PassKind::interface,
                                       "Write the hardware modules that the design uses."};
  using Options = EmitPassOptions;
  static passes::Result run(ir::Graph& graph, const Options& options, passes::PassContext& context);
};

/// Images of weights, biases and tables.
struct EmitBram {
  static constexpr passes::PassDoc doc{"emit_bram", passes::PassKind::interface,
                                       "Write the memory images of weights and tables."};
  using Options = EmitPassOptions;
  static passes::Result run(ir::Graph& graph, const Options& options, passes::PassContext& context);
};

/// The C++ bench with a few vectors. Without `top_name` it drives the top that stands in the
/// folder.
struct EmitVerilogTb {
  static constexpr passes::PassDoc doc{"emit_verilog_tb", passes::PassKind::interface,
                                       "Write the C++ bench for Verilator."};
  using Options = EmitPassOptions;
  static passes::Result run(ir::Graph& graph, const Options& options, passes::PassContext& context);
};

}  // namespace mase::emit
