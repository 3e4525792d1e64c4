// SPDX-License-Identifier: Apache-2.0
// LibTorch writes the archive; with codes alone, the log tells how much of it stays in floats.
#include "driver/save_checkpoint.hpp"

#include <fstream>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "checkpoint/archive.hpp"
#include "checkpoint/coded_tensors.hpp"
#include "driver/version.hpp"

namespace mase::driver {

void save_checkpoint(const ir::Graph& graph, const std::string& path, const Tree& info) {
  backend::open().export_model(graph, path, checkpoint::extra_files(graph, info));
}

namespace {

/// "50 tensors with 86400 elements": the tensors that are stored as codes, or those that are not.
std::string amount(const ir::Graph& graph, bool coded) {
  std::int64_t tensors = 0, elements = 0;
  for (const auto& [path, tensor] : graph.tensors) {
    if (bool(tensor.coded) != coded) continue;
    ++tensors;
    elements += tensor.value.size();
  }
  return std::to_string(tensors) + " tensors with " + std::to_string(elements) + " elements";
}

}  // namespace

void save_codes_alone(const ir::Graph& graph, const std::string& path, const Tree& info) {
  const ir::Graph coded = checkpoint::with_codes_alone(graph);
  log::info(path + ": " + amount(coded, true) + " stored as codes only, " + amount(coded, false) +
            " stored as values");
  save_checkpoint(coded, path, info);
}

// copy_file of the standard library sets the mode of the copy, which the sandbox refuses.
void copy_checkpoint(const std::string& from, const std::string& to) {
  write_file_with(to, [&](const std::string& copy) {
    std::ifstream source(from, std::ios::binary);
    std::ofstream target(copy, std::ios::binary);
    target << source.rdbuf();
    if (!source || !target.flush()) file_error("cannot copy " + from + " to " + to);
  });
}

Tree checkpoint_info(const std::string& resolved_configuration, const data::Dataset* dataset) {
  Tree info = Tree::dict();
  info["mase_version"] = version();
  info["libtorch_version"] = backend::open().info().at("version");
  if (!resolved_configuration.empty()) info["configuration"] = resolved_configuration;
  if (dataset) {
    info["dataset"]["name"] = dataset->name;
    info["dataset"]["sha256"] = dataset->sha256;
  }
  return info;
}

}  // namespace mase::driver
