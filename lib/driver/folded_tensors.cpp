// SPDX-License-Identifier: Apache-2.0
// Compares what was folded with what the files have, by hashes.
#include "driver/folded_tensors.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "huggingface/weight_files.hpp"
#include "ir/folding.hpp"

namespace mase::driver {
namespace {

/// The source's files. A folder that was moved is told with the option that names it.
safetensors::Tensors weights_in(const std::string& folder) {
  try {
    return huggingface::read_weight_files(folder);
  } catch (const Error& error) {
    file_error(std::string(error.what()) +
               "; tensors that fold_constants has made constants are taken from it. --source "
               "FOLDER says where it is now, and lets `mase convert` read it");
  }
}

/// As the graph had it before it was folded.
Array value_in(const safetensors::Tensors& files, const std::string& folder,
               const huggingface::StoredAs& stored) {
  const auto found = files.find(stored.key);
  if (found == files.end()) file_error(folder + ": the tensor '" + stored.key + "' is missing");
  const Array& value = found->second.value;
  const bool widens = is_floating(value.dtype()) && value.dtype() != DType::float32;
  return widens ? Array::widened(value) : value;
}

[[noreturn]] void refuse(const std::vector<std::string>& lines) {
  unsupported_error("transformers would not compute the constants of this model:\n  " +
                    join(lines, "\n  ") +
                    "\nThe pass fold_constants with parameters = false keeps trained tensors as "
                    "they are; or write FILE.pt2");
}

}  // namespace

ir::Graph with_folded_tensors(const ir::Graph& graph, const huggingface::Origin& origin,
                              const std::string& source) {
  const ir::Folding folding = ir::folding_of(graph);
  const std::string& folder = source.empty() ? origin.folder : source;
  ir::Graph complete = graph;
  safetensors::Tensors files;
  std::vector<std::string> changed;
  for (const auto& [path, hash] : folding.read) {
    const auto kept = graph.tensors.find(path);
    const auto stored = origin.tensors.find(path);
    const bool gone = kept == graph.tensors.end();
    if (gone && stored == origin.tensors.end()) continue;  // transformers makes it, too
    if (gone && files.empty()) files = weights_in(folder);
    const Array value = gone ? value_in(files, folder, stored->second) : kept->second.value;
    if (ir::value_hash(value) != hash)
      changed.push_back(path + " was folded with other values than " +
                        (gone ? folder + " has" : "it has now"));
    if (gone) complete.set_tensor(path, {value});
  }
  for (const auto& [path, hash] : folding.made) {
    const auto kept = graph.tensors.find(path);
    if (kept == graph.tensors.end() || ir::value_hash(kept->second.value) != hash)
      changed.push_back(path + " has changed since it was folded");
  }
  if (!changed.empty()) refuse(changed);
  return complete;
}

}  // namespace mase::driver
