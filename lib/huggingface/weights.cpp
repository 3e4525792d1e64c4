// SPDX-License-Identifier: Apache-2.0
// Gives the tensors of a folder's files the model's names.
#include "huggingface/weights.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "huggingface/weight_files.hpp"

namespace mase::huggingface {
namespace {

/// The name with a part of it replaced, if that begins at the start of a component.
std::string renamed(std::string name, const Renaming& row) {
  const std::size_t at = name.find(row.in_file);
  if (at == std::string::npos || (at > 0 && name[at - 1] != '.')) return name;
  return name.replace(at, row.in_file.size(), row.in_model);
}

/// Norms of the first BERT files, which were converted from TensorFlow.
constexpr Renaming norms[] = {{"gamma", "weight"}, {"beta", "bias"}};

std::string model_name(const std::string& in_file, const Naming& naming, bool has_base) {
  std::string name = in_file;
  for (const Renaming& row : norms)
    if (name.ends_with("LayerNorm." + std::string(row.in_file))) name = renamed(name, row);
  for (const Renaming& row : naming.older) name = renamed(name, row);
  if (naming.has_head && !has_base) return std::string(naming.base) + name;
  if (!naming.has_head && name.starts_with(naming.base)) return name.substr(naming.base.size());
  return name;
}

std::string described(const Array& array) {
  return std::string(dtype_name(array.dtype())) + shape_text(array.shape());
}

}  // namespace

Weights::Weights(const std::string& folder, const Naming& naming) : folder_(folder) {
  safetensors::Tensors found = read_weight_files(folder);
  const bool has_base = std::ranges::any_of(
      found, [&](const auto& entry) { return entry.first.starts_with(naming.base); });
  for (auto& [name, tensor] : found) {
    if (std::ranges::any_of(naming.unused,
                            [&](std::string_view end) { return name.ends_with(end); }))
      continue;
    const std::string here = model_name(name, naming, has_base);
    const auto [other, added] = tensors_.emplace(here, Stored{std::move(tensor), name});
    if (!added)
      file_error(other->second.tensor.file + ": '" + name + "' and '" + other->second.name +
                 "' are both '" + here + "' of the model");
  }
}

Array Weights::take(const std::string& name, const Shape& shape, DType dtype) {
  constexpr std::size_t most_faults = 1000;  // more say no more
  if (faults_.size() > most_faults) check();
  taken_.insert(name);
  asked_.insert(name);
  const auto found = tensors_.find(name);
  const auto zeros = [&] {
    return Array::deferred(dtype, shape, [dtype, shape] { return Array(dtype, shape); });
  };
  if (found == tensors_.end()) {
    faults_.push_back("missing: " + name + " " + shape_text(shape));
    return zeros();
  }
  const Array& value = found->second.tensor.value;
  const bool fits = value.dtype() == dtype || (is_floating(value.dtype()) && is_floating(dtype));
  if (value.shape() != shape || !fits) {
    faults_.push_back("different: " + found->second.name + " is " + described(value) + " in " +
                      found->second.tensor.file + " and " + std::string(dtype_name(dtype)) +
                      shape_text(shape) + " in the model");
    return zeros();
  }
  if (value.dtype() == dtype) return value;
  converted_.emplace(dtype_name(value.dtype()));
  return Array::widened(value);
}

std::map<std::string, StoredAs> Weights::in_files() const {
  std::map<std::string, StoredAs> found;
  for (const auto& [name, stored] : tensors_)
    if (asked_.contains(name))
      found.emplace(
          name, StoredAs{stored.name, stored.tensor.value.shape(), stored.tensor.value.dtype()});
  return found;
}

void Weights::check() const {
  std::vector<std::string> lines = faults_;
  for (const auto& [name, stored] : tensors_)
    if (!taken_.contains(name))
      lines.push_back("not in the model: " + stored.name + " " + described(stored.tensor.value) +
                      " in " + stored.tensor.file);
  if (lines.empty()) return;
  constexpr std::size_t most = 12;
  if (lines.size() > most) {
    lines.insert(lines.begin() + most, std::to_string(lines.size() - most) + " more");
    lines.resize(most + 1);
  }
  file_error(folder_ + ": the tensors do not fit config.json:\n  " + join(lines, "\n  "));
}

}  // namespace mase::huggingface
