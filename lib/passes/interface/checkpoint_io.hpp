// SPDX-License-Identifier: Apache-2.0
// Passes that store the graph, load a graph, and write node metadata; useful in the middle of a
// pipeline.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Writes `<save_dir>/graph_module.pt` and `node_meta_param.toml` inside the output folder.
struct SaveGraph {
  static constexpr PassDoc doc{"save_graph", PassKind::interface,
                               "Store the graph as a checkpoint inside the output folder."};
  struct Options {
    std::string save_dir = "saved_graph";
    static constexpr auto fields() {
      return std::tuple{Field{"save_dir", &Options::save_dir, "folder inside the output folder"}};
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

/// Replaces the graph by the one of a checkpoint.
struct LoadGraph {
  static constexpr PassDoc doc{"load_graph", PassKind::interface,
                               "Replace the graph by that of a checkpoint.",
                               std::numeric_limits<double>::infinity()};
  struct Options {
    std::string load_dir = "";
    static constexpr auto fields() {
      return std::tuple{
          Field{"load_dir", &Options::load_dir, "checkpoint file, or folder with graph_module.pt"}};
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

/// Writes the metadata of every node as TOML.
struct SaveNodeMetaParam {
  static constexpr PassDoc doc{"save_node_meta_param", PassKind::interface,
                               "Write the metadata of every node as TOML."};
  struct Options {
    std::string save_path = "node_meta_param.toml";
    static constexpr auto fields() {
      return std::tuple{Field{"save_path", &Options::save_path, "file inside the output folder"}};
    }
  };
  static Result run(ir::Graph& graph, const Options& options, PassContext& context);
};

}  // namespace mase::passes
