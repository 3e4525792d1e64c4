// SPDX-License-Identifier: Apache-2.0
// The hashes that a quantized folder has of its tensors, so that weights which were changed after
// the folder was written are told from those that belong to its graph.
#pragma once

#include <map>
#include <string>

#include "base/file.hpp"
#include "base/tree.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::driver {

/// By the names of tensors in their files, as ir::value_hash gives them.
using WeightHashes = std::map<std::string, std::string>;

/// Computes the hash of a tensor while its bytes are written.
class StreamedHash {
 public:
  explicit StreamedHash(const safetensors::TensorType& type);
  void add(const std::byte* bytes, std::size_t count);
  std::string finish() { return hash_.finish(); }

 private:
  Sha256 hash_;
};

Tree tree_of_hashes(const WeightHashes& hashes);
/// Error(Fault::file) that names the document if it is something else than texts by name.
WeightHashes hashes_in(const Tree& tree, const std::string& path);

/// The tensor's array, which compares its bytes with the hash when something first reads them.
/// Error(Fault::file) then if they differ, and here if there is no hash of this name.
Array checked(const safetensors::StoredTensor& tensor, const std::string& name,
              const WeightHashes& hashes);

}  // namespace mase::driver
