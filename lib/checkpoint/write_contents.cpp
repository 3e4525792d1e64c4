// SPDX-License-Identifier: Apache-2.0
// Writes what a checkpoint has in addition to the TorchScript module: graph text, metadata, integer
// codes and hashes.
#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "checkpoint/quantized_tensors.hpp"
#include "ir/text.hpp"

namespace mase::checkpoint {

namespace {

using Files = std::map<std::string, std::string>;

/// Encodes a tensor. Returns nullopt for a format without codes, which can only be fake-quantized
/// (profile `mase` of block formats, which passes tiny numbers through).
std::optional<formats::Encoded> encode(const QuantizedTensor& tensor, const Array& value) {
  const Array floats = value.to_float32();
  try {
    return tensor.format.deterministic().encode(floats.span<float>(), floats.shape());
  } catch (const Error& error) {
    if (error.fault() == Fault::unsupported) return std::nullopt;
    throw Error(error.fault(), "node '" + tensor.node + "', " + tensor.port + " (tensor '" +
                                   tensor.path + "'): " + error.what());
  }
}

/// The values as little-endian float32, as they are in memory on all supported machines.
std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// A file of an encoded tensor: its key in info.json, the end of its name, and its bytes.
struct CodeFile {
  const char *key, *ending;
  std::string bytes;
};

std::vector<CodeFile> code_files(const formats::Encoded& encoded) {
  std::vector<CodeFile> files{{"file", ".bin", encoded.codes.bytes()}};
  if (!encoded.shared.empty())
    files.push_back({"shared_file", ".shared.bin", encoded.shared.bytes()});
  if (!encoded.scales.empty())
    files.push_back({"scales_file", ".scales.bin", bytes_of(encoded.scales)});
  return files;
}

/// Adds the code files of a tensor, if its format has codes, and returns its row for info.json.
/// Files are numbered, so that the characters of a tensor's path do not matter.
Tree add_codes(const ir::Graph& graph, const QuantizedTensor& tensor, std::size_t number,
               Files& files) {
  const ir::Tensor& stored = graph.tensors.at(tensor.path);
  const Array& value = stored.value;
  Tree row = Tree::dict();
  row["node"] = tensor.node;
  row["port"] = tensor.port;
  row["tensor"] = tensor.path;
  row["format"] = tensor.format.text();
  row["shape"] = Tree::list_of(value.shape());
  if (stored.coded) {
    row["code_bits"] = stored.coded->encoded.codes.bits();
    row["stem"] = ir::code_stem(graph, tensor.path);  // the codes are in the module
    return row;
  }
  const std::optional<formats::Encoded> encoded = encode(tensor, value);
  if (!encoded) return row;
  row["code_bits"] = encoded->codes.bits();
  if (!encoded->shared.empty()) row["shared_bits"] = encoded->shared.bits();
  for (const CodeFile& file : code_files(*encoded)) {
    const std::string name = "mase/codes/" + std::to_string(number) + file.ending;
    row[file.key] = name;
    files[name] = file.bytes;
  }
  return row;
}

/// The version of files without coded tensors, and that of files with one format for both operands:
/// older programs can read them.
constexpr int version_with_floats = 1, version_with_one_operand = 2;

bool is_coded(const ir::Graph& graph) {
  return std::ranges::any_of(graph.tensors,
                             [](const auto& entry) { return bool(entry.second.coded); });
}

/// Whether the operands of a sum or a product have two formats, or one of them none.
bool has_second_operands(const ir::Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](ir::NodeId id) {
    const ir::Node& node = graph.node(id);
    return node.formats.contains("data_in_1") || has_float_second_operand(graph, node);
  });
}

bool has_beginnings(const ir::Graph& graph) {
  return std::ranges::any_of(graph.tensors,
                             [](const auto& entry) { return !entry.second.begins.empty(); });
}

int version_of(const ir::Graph& graph) {
  if (has_second_operands(graph) || has_beginnings(graph)) return format_version;
  return is_coded(graph) ? version_with_one_operand : version_with_floats;
}

Tree add_all_codes(const ir::Graph& graph, Files& files) {
  Tree rows = Tree::list();
  std::size_t number = 0;
  for (const QuantizedTensor& tensor : quantized_tensors(graph))
    rows.push_back(add_codes(graph, tensor, number++, files));
  return rows;
}

/// A text of a row, or "" if the row has none.
std::string text_at(const Tree& row, const char* key) {
  const Tree* value = row.is_dict() ? row.find(key) : nullptr;
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

Tree hashes_of(const Files& files) {
  Tree hashes = Tree::dict();
  for (const auto& [name, bytes] : files) hashes[name] = sha256(bytes);
  return hashes;
}

/// The node, port and path of a quantized tensor. A port may have several tensors.
using TensorKey = std::array<std::string, 3>;

/// The rows of a checkpoint's quantized tensors.
std::map<TensorKey, Tree> stored_rows(const std::string& path, const Files& files) {
  std::map<TensorKey, Tree> found;
  const auto info = info_in(files, path);
  if (!info) return found;
  const Tree* rows = info->find("quantized_tensors");
  if (rows == nullptr || !rows->is_list()) return found;
  for (const Tree& row : rows->as_list())
    found[{text_at(row, "node"), text_at(row, "port"), text_at(row, "tensor")}] = row;
  return found;
}

}  // namespace

void check_codes(const std::string& path, const ir::Graph& graph) {
  const Files files = read_extra_files(path);
  const auto stored = stored_rows(path, files);
  for (const QuantizedTensor& tensor : quantized_tensors(graph)) {
    const std::string what = path + ": node '" + tensor.node + "', " + tensor.port + ": ";
    const auto row = stored.find({tensor.node, tensor.port, tensor.path});
    if (row != stored.end() && !text_at(row->second, "stem").empty()) continue;
    const auto encoded = encode(tensor, graph.tensors.at(tensor.path).value);
    if (!encoded) continue;
    for (const CodeFile& wanted : code_files(*encoded)) {
      const auto file =
          row == stored.end() ? files.end() : files.find(text_at(row->second, wanted.key));
      if (file == files.end())
        file_error(what +
                   "the checkpoint has no integer codes; write it again with mase transform");
      if (file->second != wanted.bytes)
        file_error(what + "the integer codes do not match the tensor '" + tensor.path +
                   "'; write the checkpoint again with mase transform");
    }
  }
}

std::map<std::string, std::string> extra_files(const ir::Graph& graph, const Tree& info) {
  Files files;
  files["mase/graph.txt"] = ir::print(graph);
  Tree all = Tree::dict();
  all["format_version"] = version_of(graph);
  if (info.is_dict())
    for (const auto& [key, value] : info.as_dict()) all[key] = value;
  all["history"] = graph.history;
  all["tensor_hash"] = tensor_hash(graph);
  all["quantized_tensors"] = add_all_codes(graph, files);
  all["hashes"] = hashes_of(files);
  files["mase/info.json"] = to_json(all);
  return files;
}

std::string tensor_hash(const ir::Graph& graph) {
  std::string all;
  for (const std::string& path : graph.tensor_order) {
    const Array& value = graph.tensors.at(path).value;
    const std::string_view bytes(reinterpret_cast<const char*>(value.bytes()), value.byte_size());
    all += quote(path) + " " + std::string(dtype_name(value.dtype())) + " " +
           shape_text(value.shape()) + " " + sha256(bytes) + "\n";
  }
  return sha256(all);
}

}  // namespace mase::checkpoint
