// SPDX-License-Identifier: Apache-2.0
// The memory as a dict: "read" and "made", each with hashes by path.
#include "ir/folding.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "ir/tensor_readers.hpp"

namespace mase::ir {
namespace {

constexpr std::string_view folding_key = "folding";
using Hashes = std::map<std::string, std::string>;

Tree tree_of(const Hashes& hashes) {
  Tree tree = Tree::dict();
  for (const auto& [path, hash] : hashes) tree[path] = hash;
  return tree;
}

Hashes hashes_in(const Tree& tree, std::string_view key) {
  const Tree* found = tree.is_dict() ? tree.find(key) : nullptr;
  Hashes hashes;
  bool sound = found && found->is_dict();
  if (sound)
    for (const auto& [path, hash] : found->as_dict()) {
      sound = sound && hash.is_string();
      if (sound) hashes[path] = hash.as_string();
    }
  if (!sound)
    file_error("what the graph says of folded tensors is damaged ('" + std::string(key) +
               "'); transform the model again");
  return hashes;
}

int count_in(const std::map<std::string, int>& uses, const std::string& path) {
  const auto found = uses.find(path);
  return found == uses.end() ? 0 : found->second;
}

}  // namespace

std::string value_hash(const Array& value) {
  const std::string type = std::string(dtype_name(value.dtype())) + shape_text(value.shape());
  Sha256 hash;
  hash.add(type);
  hash.add({reinterpret_cast<const char*>(value.bytes()), value.byte_size()});
  return hash.finish();
}

void remember_folding(const Graph& before, Graph& after) {
  Folding folding = folding_of(after);
  const auto uses_before = tensor_uses(before), uses_after = tensor_uses(after);
  for (const auto& [path, tensor] : before.tensors) {
    const bool gone = !after.tensors.contains(path);
    if (!gone && count_in(uses_before, path) <= count_in(uses_after, path)) continue;
    const std::string hash = value_hash(tensor.value);
    const auto made = folding.made.find(path);
    if (made == folding.made.end())
      folding.read.emplace(path, hash);
    else if (gone && made->second == hash)
      folding.made.erase(made);
  }
  for (const auto& [path, tensor] : after.tensors)
    if (!before.tensors.contains(path)) folding.made.emplace(path, value_hash(tensor.value));
  if (folding.read.empty() && folding.made.empty()) return;
  if (!after.source.is_dict()) after.source = Tree::dict();
  after.source[folding_key] = Tree::dict();
  after.source[folding_key]["read"] = tree_of(folding.read);
  after.source[folding_key]["made"] = tree_of(folding.made);
}

Folding folding_of(const Graph& graph) {
  const Tree* tree = graph.source.is_dict() ? graph.source.find(folding_key) : nullptr;
  if (!tree) return {};
  return {hashes_in(*tree, "read"), hashes_in(*tree, "made")};
}

}  // namespace mase::ir
