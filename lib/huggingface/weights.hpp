// SPDX-License-Identifier: Apache-2.0
// Weights: the tensors of a folder by the names that the model's modules give them.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "safetensors/safetensors.hpp"

namespace mase::huggingface {

/// A part of names that files have in place of another one.
struct Renaming {
  std::string_view in_file, in_model;
};

/// How the names in files differ from those in the model.
struct Naming {
  std::string_view base;                 ///< where a model with a head has the one without, "bert."
  bool has_head = true;                  ///< the names of the model begin with `base`
  std::span<const Renaming> older = {};  ///< applied one after the other
  std::span<const std::string_view> unused = {};  ///< ends of names of tensors that nothing reads
};

/// A tensor as a file has it.
struct StoredAs {
  std::string key;
  Shape shape;
  DType dtype;
};

class Weights {
 public:
  /// The tensors of the folder's files, as read_weight_files finds them.
  Weights(const std::string& folder, const Naming& naming);

  /// The tensor; floating-point numbers become float32 when something reads them. A fault is kept
  /// for `check`.
  Array take(const std::string& name, const Shape& shape, DType dtype = DType::float32);
  bool has(const std::string& name) const { return tensors_.contains(name); }
  /// A tensor that the model doesn't have by itself, since it is that under another name.
  void skip(const std::string& name) { taken_.insert(name); }
  /// Error(Fault::file) that names each tensor that is missing, has another shape, or is left over.
  void check() const;
  /// The tensors that `take` was asked for, by their names in the model.
  std::map<std::string, StoredAs> in_files() const;
  /// The types of elements that become float32.
  const std::set<std::string>& converted() const { return converted_; }

 private:
  struct Stored {
    safetensors::StoredTensor tensor;
    std::string name;  ///< in the file
  };
  std::string folder_;
  std::map<std::string, Stored> tensors_;
  std::set<std::string> taken_, asked_, converted_;
  std::vector<std::string> faults_;
};

}  // namespace mase::huggingface
