// SPDX-License-Identifier: Apache-2.0
// Report passes that show the graph: its nodes and text, and tables of types, shapes and metadata.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Shows a summary table, the graph's text, counts per node kind and the layers in node order.
struct ReportGraph {
  static constexpr PassDoc doc{"report_graph", PassKind::analysis,
                               "Show the graph: node table, text, counts and layers."};
  struct Options {
    std::optional<std::string> file_name;
    static constexpr auto fields() {
      return std::tuple{Field{"file_name", &Options::file_name,
                              "write there, inside the output folder, instead of to stdout"}};
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

/// Shows every node's name, kind, MASE type and op, and the type of its first data input.
struct ReportNodeType {
  static constexpr PassDoc doc{"report_node_type", PassKind::analysis,
                               "Table of every node's kind, MASE type, MASE op and value type."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

/// Shows the shapes of every node's tensor arguments and results.
struct ReportNodeShape {
  static constexpr PassDoc doc{"report_node_shape", PassKind::analysis,
                               "Shapes of every node's tensor arguments and results."};
  struct Options {
    static constexpr auto fields() { return std::tuple{}; }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

/// Shows the metadata of every node as a boxed table.
struct ReportNodeMetaParam {
  static constexpr PassDoc doc{"report_node_meta_param", PassKind::analysis,
                               "Table of every node's metadata."};
  struct Options {
    std::vector<std::string> which = {"all"};
    std::optional<std::string> save_path;
    static constexpr auto fields() {
      return std::tuple{Field{"which", &Options::which, "parts to show"}.one_of(
                            "all", "common", "hardware", "software"),
                        Field{"save_path", &Options::save_path,
                              "write there, inside the output folder, instead of to stdout"}};
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
