// SPDX-License-Identifier: Apache-2.0
// Tensors in several files: an index in JSON says which file has which.
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/tree.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::safetensors {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_index = std::size_t{100} << 20;  ///< bytes

std::string beside(const std::string& index, const std::string& name) {
  return (fs::path(index).parent_path() / name).string();
}

/// The names of tensors by the file that the index says they are in.
std::map<std::string, std::set<std::string>> files_of(const std::string& index) {
  const Tree tree = parse_json(read_file(index, longest_index), index);
  const Tree* map = tree.find("weight_map");
  if (!map || !map->is_dict()) file_error(index + ": the table 'weight_map' is missing");
  std::map<std::string, std::set<std::string>> files;
  for (const auto& [name, file] : map->as_dict()) {
    if (!file.is_string() || !stays_inside(file.as_string()))
      file_error(index + ": tensor '" + name + "': its file is not the name of one in this folder");
    files[file.as_string()].insert(name);
  }
  return files;
}

}  // namespace

Tensors read_shards(const std::string& index, Reader* read) {
  Tensors tensors;
  for (const auto& [name, wanted] : files_of(index)) {
    const std::string path = beside(index, name);
    if (!file_exists(path))
      file_error(path + ": no such file; " + index + " says that it has '" + *wanted.begin() + "'");
    Tensors part = read(path);
    for (const std::string& tensor : wanted)
      if (!part.contains(tensor))
        file_error(path + ": tensor '" + tensor + "' is missing; " + index +
                   " says that it is there");
    for (auto& [tensor, value] : part) {
      if (!wanted.contains(tensor))
        file_error(path + ": tensor '" + tensor + "' is not in " + index + " for this file");
      tensors.emplace(tensor, std::move(value));
    }
  }
  return tensors;
}

bool is_index(const std::string& path) { return path.ends_with(".safetensors.index.json"); }

std::vector<std::string> files_beside_index(const std::string& path) {
  std::vector<std::string> files;
  if (!is_index(path)) return files;
  const std::string folder = fs::path(path).parent_path().string();
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder.empty() ? "." : folder, error))
    if (entry.path().string().ends_with(".safetensors")) files.push_back(entry.path().string());
  return files;
}

}  // namespace mase::safetensors
