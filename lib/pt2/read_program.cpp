// SPDX-License-Identifier: Apache-2.0
// The zip archive of an exported program. torch 2.8 and later write models/model.json and one entry
// per weight; torch 2.7 and earlier write serialized_exported_program.json and files of torch.save.
#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "base/file_map.hpp"
#include "base/strided_array.hpp"
#include "base/zip_directory.hpp"
#include "base/zip_reader.hpp"
#include "checkpoint/archive.hpp"
#include "pt2/fields.hpp"
#include "pt2/program.hpp"
#include "pt2/read_graph.hpp"

namespace mase::pt2 {
namespace {

constexpr std::string_view new_graph = "models/model.json";
constexpr std::string_view old_graph = "serialized_exported_program.json";

/// The entries of an archive by name, without the folder that all of them may lie in.
class Entries {
 public:
  explicit Entries(const std::string& path) : archive_(ZipReader::open_file(path)) {
    for (const ZipEntry& entry : archive_.entries()) names_.push_back(entry.name);
    const std::size_t slash = names_.empty() ? std::string::npos : names_[0].find('/');
    if (slash == std::string::npos) return;
    const std::string root = names_[0].substr(0, slash + 1);
    if (!std::ranges::all_of(names_, [&](const auto& name) { return name.starts_with(root); }))
      return;
    for (std::string& name : names_) name = name.substr(root.size());
  }

  bool has(std::string_view name) const { return std::ranges::find(names_, name) != names_.end(); }
  std::string_view read(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) file_error("the entry '" + std::string(name) + "' is missing");
    return archive_.read(static_cast<std::size_t>(found - names_.begin()));
  }

 private:
  ZipReader archive_;
  std::vector<std::string> names_;
};

Shape constant_sizes(const Tree& sizes, const std::string& what) {
  Shape shape;
  for (const Tree& size : list_of(sizes, what)) {
    const UnionValue one = union_of(size, what);
    shape.push_back(integer_of(one.value, what));
  }
  return shape;
}

/// Reads the tensors of one table of weights or constants.
void read_values(const Entries& entries, const std::string& folder, const std::string& table,
                 Program& program) {
  const std::string name = folder + table;
  if (!entries.has(name)) return;
  const Tree document = parse_json(entries.read(name), name);
  std::map<std::string, std::string> first;  // the path that a tensor of an entry has first
  for (const auto& [path, entry] : dict_of(field(document, "config"), "config")) {
    const std::string what = "the tensor '" + path + "'";
    if (const Tree* pickled = entry.find("use_pickle"); pickled && truth_of(*pickled, "use_pickle"))
      unsupported_error(what + " is of a class of its own, which only Python can read");
    const Tree& meta = field(entry, "tensor_meta");
    StridedLayout layout{tensor_info(meta, what).dtype,
                         constant_sizes(field(meta, "sizes"), "a size of " + what),
                         constant_sizes(field(meta, "strides"), "a stride of " + what), 0};
    const UnionValue offset = union_of(field(meta, "storage_offset"), "storage_offset");
    layout.offset = integer_of(offset.value, "storage_offset");
    const std::string file = text_of(entry, "path_name");
    program.values.emplace(path, gathered(layout, entries.read(folder + file), what));
    const auto [same, added] = first.emplace(file + " " + to_json(meta, -1), path);
    if (!added) program.tied.emplace(path, same->second);
    const Tree* parameter = entry.find("is_param");
    if (parameter && truth_of(*parameter, "is_param")) program.parameters.insert(path);
  }
}

void read_old_values(const Entries& entries, const std::string& name, Program& program) {
  if (!entries.has(name) || entries.read(name).empty()) return;
  const ZipReader archive = ZipReader::open_bytes(std::string(entries.read(name)), name);
  for (auto& [path, value] : checkpoint::read_state_dict(archive))
    program.values.emplace(path, std::move(value));
}

void read_entries(const Entries& entries, Program& program) {
  const bool old = !entries.has(new_graph) && entries.has(old_graph);
  const std::string_view graph = old ? old_graph : new_graph;
  read_graph(entries.read(graph), std::string(graph), program);
  if (old) {
    read_old_values(entries, "serialized_state_dict.pt", program);
    read_old_values(entries, "serialized_constants.pt", program);
    return;
  }
  read_values(entries, "data/weights/", "model_weights_config.json", program);
  read_values(entries, "data/constants/", "model_constants_config.json", program);
}

void check_values(const Program& program) {
  for (const InputSpec& input : program.inputs)
    if (!input.path.empty() && !program.values.contains(input.path))
      file_error("the values of '" + input.path + "' are missing");
}

}  // namespace

bool is_exported_program(const std::string& path) {
  const auto file = FileMap::open(path);
  if (!file || !file->bytes().starts_with("PK\x03\x04")) return false;
  try {
    // Only the directory is looked at, however large the file is.
    return std::ranges::any_of(read_zip_directory(file->bytes(), path), [](const ZipEntry& entry) {
      return entry.name.ends_with(new_graph) || entry.name == old_graph;
    });
  } catch (const Error&) {
    return false;  // who reads the file says what is wrong with it
  }
}

Program read_program(const std::string& path) {
  Program program;
  program.path = path;
  try {
    read_entries(Entries(path), program);
    check_values(program);
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with(path)) throw;
    throw Error(error.fault(), path + ": " + error.what());
  }
  return program;
}

}  // namespace mase::pt2
