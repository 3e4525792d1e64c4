// SPDX-License-Identifier: Apache-2.0
// Folders of Hugging Face's transformers (save_pretrained) as graphs: config.json says what is
// computed, *.safetensors have the weights. Nothing of Python runs, and no weight is read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "ir/graph.hpp"

namespace mase::huggingface {

/// Whether it is a folder with a config.json.
bool is_model_folder(const std::string& path);

/// The names of the model's inputs, in order.
std::vector<std::string> inputs_of(const std::string& folder);

struct Imported {
  ir::Graph graph;
  std::vector<std::string> notes;  ///< sentences about what the import assumed or changed
};

/// The graph for the shapes of the examples, by the names of inputs; it takes other batches and
/// lengths, too. Error(Fault::unsupported) for an architecture or a setting that is not known,
/// Error(Fault::file) for files that are not sound or do not fit each other, each naming the file,
/// and Error(Fault::config) for examples that do not fit.
Imported import_folder(const std::string& folder, const std::map<std::string, Array>& examples);

}  // namespace mase::huggingface
