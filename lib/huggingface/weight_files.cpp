// SPDX-License-Identifier: Apache-2.0
// Looks for the files in the order in which transformers does.
#include "huggingface/weight_files.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "checkpoint/archive.hpp"

namespace mase::huggingface {
namespace {

/// A state_dict of torch.save. No code of the file runs.
safetensors::Tensors read_pickled(const std::string& path) {
  safetensors::Tensors tensors;
  for (auto& [name, value] : checkpoint::read_state_dict(checkpoint::open_tensors(path).archive))
    tensors.emplace(name, safetensors::StoredTensor{std::move(value), path});
  return tensors;
}

/// A link into a hub's cache whose file is not there counts as an error, not as a missing file.
bool is_there(const std::string& path) {
  std::error_code error;
  if (file_exists(path)) return true;
  if (!std::filesystem::is_symlink(path, error)) return false;
  file_error(path + " is a link to " + std::filesystem::read_symlink(path, error).string() +
             ", which does not exist; download the model again");
}

struct WeightFile {
  const char* name;
  safetensors::Reader* read;
};
constexpr WeightFile weight_files[] = {{"model.safetensors", safetensors::read_tensors},
                                       {"pytorch_model.bin", read_pickled}};

}  // namespace

safetensors::Tensors read_weight_files(const std::string& folder) {
  for (const WeightFile& row : weight_files) {
    const std::string whole = (std::filesystem::path(folder) / row.name).string();
    const std::string index = whole + ".index.json";
    if (is_there(whole)) return row.read(whole);
    if (is_there(index)) return safetensors::read_shards(index, row.read);
  }
  file_error(folder +
             ": there is neither model.safetensors nor pytorch_model.bin, nor one of them with the "
             "end .index.json; model.save_pretrained(FOLDER) of transformers writes such a file");
}

bool has_weight_files(const std::string& folder) {
  return std::ranges::any_of(weight_files, [&](const WeightFile& row) {
    const std::string whole = (std::filesystem::path(folder) / row.name).string();
    return file_exists(whole) || file_exists(whole + ".index.json");
  });
}

}  // namespace mase::huggingface
