// SPDX-License-Identifier: Apache-2.0
// Reads checkpoint archives: checks them before LibTorch sees any contents, and reads what this
// program has stored in addition to the TorchScript module.
#include "checkpoint/archive.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "checkpoint/inspect.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"

namespace mase::checkpoint {

namespace {

/// Reads the whole file. If its first bytes show that it is not a zip archive, the message is
/// better than a missing zip directory.
ZipReader open_archive(const std::string& path) {
  if (std::filesystem::is_directory(path))
    file_error("'" + path + "' is a folder without a config.json, not a model" +
               (std::filesystem::is_directory(path + "/snapshots")
                    ? "; models of the hub's cache are the folders in its folder 'snapshots'"
                    : ""));
  if (!file_exists(path)) file_error("cannot open '" + path + "': no such file");
  constexpr auto any_size = std::numeric_limits<std::size_t>::max() / 4;
  std::string bytes = read_file(path, any_size);
  require_zip(std::string_view(bytes).substr(0, 512), bytes.size(), path);
  return ZipReader::open_bytes(std::move(bytes), path);
}

const std::string& entry_of(const std::map<std::string, std::string>& files,
                            const std::string& name, const std::string& path) {
  const auto found = files.find(name);
  if (found == files.end())
    file_error(path + ": the checkpoint has no entry '" + name + "'; write it again");
  return found->second;
}

void check_version(const Tree& info, const std::string& path) {
  const Tree* version = info.find("format_version");
  if (version == nullptr || !version->is_int() || version->as_int() < 1)
    file_error(path + ": mase/info.json has no valid 'format_version'; write the checkpoint again");
  if (version->as_int() > format_version)
    file_error(path + " was written in checkpoint format " + std::to_string(version->as_int()) +
               ", but this program reads only up to " + std::to_string(format_version) +
               "; use a newer version of mase");
}

/// Checks that every file in the "hashes" of info exists with that SHA-256.
void check_hashes(const Tree& info, const std::map<std::string, std::string>& files,
                  const std::string& path) {
  const Tree* hashes = info.find("hashes");
  if (hashes == nullptr || !hashes->is_dict())
    file_error(path + ": mase/info.json has no table 'hashes'; write the checkpoint again");
  for (const auto& [name, hash] : hashes->as_dict()) {
    if (!hash.is_string() || hash.as_string() != sha256(entry_of(files, name, path)))
      file_error(path + ": '" + name +
                 "' has changed since it was written (SHA-256); write the checkpoint again");
  }
}

/// Before version 3, a second operand had the format of data_in.
void give_second_operands(ir::Graph& graph) {
  for (const ir::NodeId id : graph.order()) {
    ir::Node& node = graph.node(id);
    if (has_float_second_operand(graph, node))
      node.formats.emplace("data_in_1", node.formats.at("data_in"));
  }
}

/// Reads the graph of a checkpoint. All its errors are reported here, as a fault of the file.
ir::Graph read_graph(const std::string& text, const ZipReader& archive) {
  const std::string origin = archive.origin() + ":mase/graph.txt";
  // The tensors are in the archive, and few of them share a storage.
  const std::size_t most_bytes = 64 * archive.size() + (std::size_t{1} << 20);
  ir::Graph graph = ir::parse(text, origin, most_bytes);
  const std::vector<std::string> problems = ir::verify(graph);
  if (!problems.empty())
    file_error(origin + ": no valid graph: " + join(problems, "; ") +
               "; write the checkpoint again");
  return graph;
}

}  // namespace

bool has_float_second_operand(const ir::Graph& graph, const ir::Node& node) {
  if (!node.formats.contains("data_in") || node.formats.contains("data_in_1")) return false;
  return std::ranges::any_of(ir::ports(graph, node), [&](const ir::Port& port) {
    return port.name == "data_in_1" && port.value.is_node() &&
           graph.node(port.value.node()).info.dtype == DType::float32;
  });
}

ZipReader open_model(const std::string& path) {
  ZipReader archive = open_archive(path);
  check_entries(archive);
  return archive;
}

TensorFile open_tensors(const std::string& path) {
  ZipReader archive = open_archive(path);
  const ArchiveKind kind = check_tensor_entries(archive);
  return {std::move(archive), kind};
}

std::map<std::string, std::string> read_extra_files(const std::string& path) {
  return extra_files_of(open_archive(path));
}

std::optional<Tree> info_in(const std::map<std::string, std::string>& files,
                            const std::string& path) {
  const auto info = files.find("mase/info.json");
  if (info == files.end()) return std::nullopt;
  return parse_json(info->second, path + ":mase/info.json");
}

std::optional<Contents> read_contents(const std::string& path) {
  const ZipReader archive = open_archive(path);
  const auto files = extra_files_of(archive);
  if (files.empty()) return std::nullopt;
  Tree info = parse_json(entry_of(files, "mase/info.json", path), path + ":mase/info.json");
  check_version(info, path);
  check_hashes(info, files, path);
  ir::Graph graph = read_graph(entry_of(files, "mase/graph.txt", path), archive);
  if (info.at("format_version").as_int() < 3) give_second_operands(graph);
  return Contents{std::move(graph), std::move(info), archive};
}

}  // namespace mase::checkpoint
