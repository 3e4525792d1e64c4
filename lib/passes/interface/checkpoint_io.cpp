// SPDX-License-Identifier: Apache-2.0
// Storing and loading go through the context, so that passes need no LibTorch.
#include "passes/interface/checkpoint_io.hpp"

#include <filesystem>

#include "base/file.hpp"
#include "config/toml.hpp"
#include "ir/metadata.hpp"

namespace mase::passes {

Result SaveGraph::run(ir::Graph& graph, const Options& options, PassContext& context) {
  if (!context.save_checkpoint)
    config_error("storing a checkpoint needs LibTorch; see `mase doctor`");
  const std::string folder = context.output_path(options.save_dir);
  make_folder(folder);
  context.save_checkpoint(graph, folder + "/graph_module.pt");
  write_file(folder + "/node_meta_param.toml", config::to_toml(ir::metadata_tree(graph)));
  Result result;
  result.info["file"] = folder + "/graph_module.pt";
  return result;
}

Result LoadGraph::run(ir::Graph& graph, const Options& options, PassContext& context) {
  if (!context.load_checkpoint)
    config_error("loading a checkpoint needs LibTorch; see `mase doctor`");
  if (options.load_dir.empty()) config_error("load_graph needs load_dir = \"folder or file\"");
  std::filesystem::path path = options.load_dir;
  if (std::filesystem::is_directory(path)) path /= "graph_module.pt";
  graph = context.load_checkpoint(path.string());
  Result result;
  result.changed = true;
  result.info["file"] = path.string();
  return result;
}

Result SaveNodeMetaParam::run(ir::Graph& graph, const Options& options, PassContext& context) {
  const std::string path = context.output_path(options.save_path);
  write_file(path, config::to_toml(ir::metadata_tree(graph)));
  Result result;
  result.info["file"] = path;
  return result;
}

}  // namespace mase::passes
