// SPDX-License-Identifier: Apache-2.0
// A tensor that nothing reads is not compared, so opening a folder takes no longer.
#include "driver/weight_hashes.hpp"

#include "base/error.hpp"
#include "base/file_map.hpp"
#include "ir/folding.hpp"

namespace mase::driver {
namespace {

/// The array with its bytes in memory or in an aligned part of a file.
Array at_hand(const Array& stored) {
  if (stored.file()) return stored;
  Array copy = stored;
  copy.mutable_bytes();
  return copy;
}

[[noreturn]] void refuse_changed(const std::string& file, const std::string& name) {
  file_error(file + ": the tensor '" + name +
             "' has changed since the folder was written, so it does not belong to the formats in "
             "mase.json. Write the folder again, or remove its mase.json: the folder is then read "
             "as transformers reads it, without formats");
}

}  // namespace

StreamedHash::StreamedHash(const safetensors::TensorType& type) {
  hash_.add(std::string(dtype_name(type.dtype)) + shape_text(type.shape));
}

void StreamedHash::add(const std::byte* bytes, std::size_t count) {
  hash_.add({reinterpret_cast<const char*>(bytes), count});
}

Tree tree_of_hashes(const WeightHashes& hashes) {
  Tree tree = Tree::dict();
  for (const auto& [name, hash] : hashes) tree[name] = hash;
  return tree;
}

WeightHashes hashes_in(const Tree& tree, const std::string& path) {
  WeightHashes hashes;
  if (!tree.is_dict()) file_error(path + ": what it says of hashes is not a table");
  for (const auto& [name, hash] : tree.as_dict()) {
    if (!hash.is_string()) file_error(path + ": the hash of '" + name + "' is not a text");
    hashes[name] = hash.as_string();
  }
  return hashes;
}

Array checked(const safetensors::StoredTensor& tensor, const std::string& name,
              const WeightHashes& hashes) {
  const auto found = hashes.find(name);
  if (found == hashes.end())
    file_error(tensor.file + ": mase.json has no hash of the tensor '" + name +
               "'; write the folder again");
  const Array& stored = tensor.value;
  return Array::deferred(stored.dtype(), stored.shape(),
                         [stored, name, file = tensor.file, hash = found->second] {
                           const Array array = at_hand(stored);
                           if (ir::value_hash(array) != hash) refuse_changed(file, name);
                           if (array.file()) array.file()->was_read(array.byte_size());
                           return array;
                         });
}

}  // namespace mase::driver
