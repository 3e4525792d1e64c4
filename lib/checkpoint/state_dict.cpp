// SPDX-License-Identifier: Apache-2.0
// Reads the tensors of a state_dict saved by torch.save, and of a checkpoint, without LibTorch.
#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/strided_array.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "checkpoint/inspect.hpp"
#include "ir/tensor_readers.hpp"
#include "pickle/read_pickle.hpp"

namespace mase::checkpoint {

namespace {

using pickle::Pickle;
using pickle::PickleItem;
using pickle::PickleOf;
using Kind = PickleItem::Kind;

class Storages {
 public:
  explicit Storages(const ZipReader& archive)
      : archive_(archive), names_(names_below_root(archive)) {
    for (const ZipEntry& entry : archive.entries()) room_ += most_uses * entry.size;
  }

  std::string_view read(const std::string& name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) file_error(archive_.origin() + ": entry '" + name + "' is missing");
    const auto index = static_cast<std::size_t>(found - names_.begin());
    const std::uint64_t size = archive_.entries()[index].size;
    if (size > room_)
      file_error(archive_.origin() + ": too many tensors share the storage '" + name + "'");
    room_ -= size;
    return archive_.read(index);
  }

 private:
  static constexpr std::uint64_t most_uses = 64;  ///< per storage, on average

  const ZipReader& archive_;
  std::vector<std::string> names_;
  std::uint64_t room_ = 0;  ///< bytes that may still be read; bounds the memory of a small file
};

/// Copies a strided tensor into row-major order. A state_dict stores every element of a tensor, so
/// a larger tensor is damaged.
Array gather(const PickleItem& tensor, std::string_view bytes, const std::string& name) {
  const std::string what = "tensor '" + name + "'";
  check_extent(tensor, bytes.size(), what);
  return gathered({tensor.dtype, tensor.shape, tensor.strides, tensor.integer}, bytes, what);
}

/// The dict itself, or its entry "state_dict".
const PickleItem& dict_of(const PickleItem& item, const std::string& path) {
  if (item.kind != Kind::dict)
    file_error("'" + path +
               "' holds no state_dict; save it with torch.save(model.state_dict(), path)");
  for (const auto& [key, value] : item.entries)
    if (key == "state_dict" && value->kind == Kind::dict) return *value;
  return item;
}

/// The attribute of an object, or null.
const PickleItem* attribute(const PickleItem& object, std::string_view name) {
  for (const auto& [key, value] : object.entries)
    if (key == name) return value;
  return nullptr;
}

/// The tensor at a path of attributes, "seq_blocks.0.weight", or null.
const PickleItem* find_tensor(const PickleItem& root, std::string_view path) {
  const PickleItem* item = &root;
  for (const std::string& name : split(path, '.')) {
    item = attribute(*item, name);
    if (item == nullptr) return nullptr;
  }
  return item->kind == Kind::tensor ? item : nullptr;
}

std::string describe(DType dtype, const Shape& shape) {
  return std::string(dtype_name(dtype)) + shape_text(shape);
}

/// A stored part of a coded tensor: bytes of codes, or floats; empty if it has none.
Array stored_part(const PickleItem& module, Storages& storages, const std::string& name,
                  DType dtype) {
  const PickleItem* item = find_tensor(module, name);
  if (item == nullptr) return Array(dtype, {0});
  if (item->dtype != dtype || item->shape.size() != 1)
    file_error("tensor '" + name + "' is " + describe(item->dtype, item->shape) +
               ", not a list of " + std::string(dtype_name(dtype)));
  return gather(*item, storages.read("data/" + item->text), name);
}

formats::PackedCodes packed(const Array& bytes, int bits, std::int64_t count) {
  return {{reinterpret_cast<const char*>(bytes.bytes()), bytes.byte_size()},
          bits,
          static_cast<std::size_t>(count)};
}

/// Decodes the values of a tensor that is stored as codes only.
void decode_tensor(const PickleItem& module, Storages& storages, const std::string& stem,
                   const formats::Format& format, Array& value) {
  const auto decoding = format.decoding(value.shape());
  if (!decoding) file_error("tensor '" + stem + "': codes of " + format.text() + " have no values");
  formats::Encoded encoded;
  encoded.codes = packed(stored_part(module, storages, stem + "_codes", DType::uint8),
                         decoding->bits, value.size());
  if (decoding->shared_bits > 0)
    encoded.shared = packed(stored_part(module, storages, stem + "_shared", DType::uint8),
                            decoding->shared_bits, decoding->tiling->tiles());
  const Array scales = stored_part(module, storages, stem + "_scales", DType::float32);
  encoded.scales.assign(scales.span<float>().begin(), scales.span<float>().end());
  format.decode(encoded, value.mutable_span<float>(), value.shape());
}

/// Decodes the tensors that the file has as codes only, and returns their names.
std::set<std::string> decode_tensors(const PickleItem& module, Storages& storages,
                                     ir::Graph& graph) {
  std::set<std::string> done;
  for (const auto& [path, format] : ir::common_formats(graph)) {
    const std::string stem = ir::code_stem(graph, path);
    if (find_tensor(module, path) || !find_tensor(module, stem + "_codes")) continue;
    Array& value = graph.tensors.at(path).value;
    try {
      decode_tensor(module, storages, stem, format, value);
    } catch (const Error& error) {
      file_error("'" + stem + "_codes' is not what " + format.text() + " makes of a tensor " +
                 shape_text(value.shape()) + ": " + error.what());
    }
    done.insert(path);
  }
  return done;
}

/// Reads a tensor of a module. A mismatch with the graph becomes a line of `differences`.
void read_module_tensor(const PickleItem& module, Storages& storages, const std::string& name,
                        Array& value, std::string& differences) {
  const std::string wanted = describe(value.dtype(), value.shape());
  const PickleItem* item = find_tensor(module, name);
  if (item == nullptr) {
    differences += "\n  missing in the file: " + name + " " + wanted;
    return;
  }
  const std::string found = describe(item->dtype, item->shape);
  if (found != wanted)
    differences +=
        "\n  different: " + name + " is " + found + " in the file and " + wanted + " in its graph";
  else
    value = gather(*item, storages.read("data/" + item->text), name);
}

/// Checks the values against the hash that a checkpoint of this program stores.
void check_hash(const ZipReader& archive, const ir::Graph& graph) {
  const std::string& path = archive.origin();
  const auto info = info_in(extra_files_of(archive), path);
  if (!info) return;
  const Tree* hash = info->find("tensor_hash");
  if (hash == nullptr || !hash->is_string() || hash->as_string() != tensor_hash(graph))
    file_error("the tensors of '" + path +
               "' have changed since it was written (tensor_hash differs); write it again");
}

}  // namespace

void load_tensors(const ZipReader& archive, ir::Graph& graph) {
  check_entries(archive);
  const std::string& path = archive.origin();
  Storages storages(archive);
  const Pickle pickle = read_pickle(storages.read("data.pkl"), path, PickleOf::module);
  ir::Graph filled = graph;
  std::string differences;
  const std::set<std::string> decoded = decode_tensors(*pickle.result, storages, filled);
  for (auto& [name, tensor] : filled.tensors)
    if (!decoded.contains(name))
      read_module_tensor(*pickle.result, storages, name, tensor.value, differences);
  if (!differences.empty())
    file_error("the tensors of '" + path + "' do not fit the model:" + differences);
  check_hash(archive, filled);
  graph = std::move(filled);
}

std::map<std::string, Array> read_state_dict(const ZipReader& archive) {
  const std::string& path = archive.origin();
  Storages storages(archive);
  const Pickle pickle = read_pickle(storages.read("data.pkl"), path, PickleOf::state_dict);
  std::map<std::string, Array> tensors;
  for (const auto& [name, item] : dict_of(*pickle.result, path).entries)
    if (item->kind == Kind::tensor)
      tensors.insert_or_assign(name, gather(*item, storages.read("data/" + item->text), name));
  return tensors;
}

}  // namespace mase::checkpoint
