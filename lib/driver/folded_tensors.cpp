// SPDX-License-Identifier: Apache-2.0
// Compares what was folded with what the files have, by hashes.
#include "driver/folded_tensors.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "huggingface/weight_files.hpp"
#include "ir/folding.hpp"

namespace mase::driver {
namespace {

/// Where the values of tensors that are gone may be found.
class Values {
 public:
  Values(const huggingface::Origin& origin, const FolderRequest& request)
      : origin_(origin),
        before_(request.before),
        folder_(request.source.empty() ? origin.folder : request.source) {}

  const std::string& folder() const { return folder_; }

  /// As the graph had it before it was folded.
  Array of(const std::string& path, const std::string& hash) {
    if (before_) {
      const auto found = before_->tensors.find(path);
      if (found != before_->tensors.end() && ir::value_hash(found->second.value) == hash)
        return found->second.value;
    }
    return in_files(origin_.tensors.at(path).key);
  }

 private:
  Array in_files(const std::string& key) {
    if (files_.empty()) read_files();
    const auto found = files_.find(key);
    if (found == files_.end()) file_error(folder_ + ": the tensor '" + key + "' is missing");
    const Array& value = found->second.value;
    const bool widens = is_floating(value.dtype()) && value.dtype() != DType::float32;
    return widens ? Array::widened(value) : value;
  }

  void read_files() {
    try {
      files_ = huggingface::read_weight_files(folder_);
    } catch (const Error& error) {
      file_error(std::string(error.what()) +
                 "; tensors that fold_constants has made constants are taken from it. --source "
                 "FOLDER says where it is now, and lets the command read it");
    }
  }

  const huggingface::Origin& origin_;
  const ir::Graph* before_;
  std::string folder_;
  safetensors::Tensors files_;
};

[[noreturn]] void refuse(const std::vector<std::string>& lines) {
  unsupported_error(
      "transformers would not compute the constants of this model:\n  " + join(lines, "\n  ") +
      "\nGive --source FOLDER with the values that were folded: `mase convert CHECKPOINT FOLDER/` "
      "writes it of the model before it was folded. Or let `mase transform --export FOLDER/` write "
      "the folder, which still has the tensors that it folds; or let the pass fold_constants keep "
      "trained tensors as they are (parameters = false); or write FILE.pt2");
}

}  // namespace

ir::Graph with_folded_tensors(const ir::Graph& graph, const huggingface::Origin& origin,
                              const FolderRequest& request) {
  const ir::Folding folding = ir::folding_of(graph);
  ir::Graph complete = graph;
  Values values(origin, request);
  std::vector<std::string> changed;
  for (const auto& [path, hash] : folding.read) {
    const auto kept = graph.tensors.find(path);
    const bool gone = kept == graph.tensors.end();
    if (gone && !origin.tensors.contains(path)) continue;  // transformers makes it, too
    const Array value = gone ? values.of(path, hash) : kept->second.value;
    if (ir::value_hash(value) != hash)
      changed.push_back(path + " was folded with other values than " +
                        (gone ? values.folder() + " has" : "it has now"));
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
