// SPDX-License-Identifier: Apache-2.0
// `mase run` runs any model on .npy files.
#include <filesystem>

#include "backend/backend.hpp"
#include "driver/commands/commands.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/loading/model_input.hpp"
#include "driver/make_evaluator.hpp"
#include "driver/output.hpp"
#include "driver/session.hpp"
#include "sandbox/policy.hpp"

namespace mase::driver {
namespace {

/// The file name of an output: y.npy if it is the only one, else y_0.npy, y_1.npy, ... or
/// y_KEY.npy. Characters of a key that could lead out of the folder become '_'.
std::string output_name(const std::string& path, const std::string& key) {
  if (key.empty()) return path;
  std::string safe;
  for (char c : key)
    safe += (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') ? c : '_';
  const std::filesystem::path p(path);
  return (p.parent_path() / (p.stem().string() + "_" + safe + p.extension().string())).string();
}

}  // namespace

int run(const RunRequest& request) {
  if (request.input.inputs.empty() && request.input.input_shapes.empty())
    config_error("run needs at least one --input FILE.npy, or --input-shape");
  const ir::Level level = parse_level(request.level);
  if (level == ir::Level::rtl)
    config_error("run has no level rtl; use mase simulate, or mase test --level rtl");
  backend::set_threads(request.threads);
  sandbox::will_output(request.output);
  ModelRequest wanted;
  wanted.model = request.model;
  wanted.input = request.input;
  const LoadedModel model = load_model(wanted);
  const ir::Results results = make_evaluator()(model.graph, level)->run(model.example);
  std::vector<std::string> paths;
  for (const auto& [key, array] : results) paths.push_back(output_name(request.output, key));
  if (!request.overwrite) keep_inputs(paths, files_read(request.model, request.input));
  Output output(request.json);
  output.document()["outputs"] = Tree::list();
  for (const auto& [key, array] : results) {
    const std::string path = output_name(request.output, key);
    write_npy(path, array);
    output.text(path + ": " + std::string(dtype_name(array.dtype())) + shape_text(array.shape()));
    Tree entry = Tree::dict();
    entry["file"] = path;
    entry["key"] = key;
    entry["dtype"] = dtype_name(array.dtype());
    entry["shape"] = Tree::list_of(array.shape());
    output.document()["outputs"].push_back(std::move(entry));
  }
  output.finish();
  return 0;
}

}  // namespace mase::driver
