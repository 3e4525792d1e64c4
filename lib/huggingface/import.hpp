// SPDX-License-Identifier: Apache-2.0
// Folders of Hugging Face's transformers (save_pretrained) as graphs: config.json says what is
// computed, *.safetensors have the weights. Nothing of Python runs, and no weight is read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "ir/graph.hpp"

namespace mase::huggingface {

/// Whether it is a folder with a config.json.
bool is_model_folder(const std::string& path);

/// How to import a folder.
struct ImportOptions {
  std::map<std::string, Array> examples;  ///< by the names of inputs; their shapes are the graph's
  bool all_seen = false;                  ///< attention_mask is not an input: no token is padding
  bool token_types = false;               ///< token_type_ids is an input, if the model has it
};

/// The names of the model's inputs, in order. The examples of the options do not matter.
std::vector<std::string> inputs_of(const std::string& folder, const ImportOptions& options);

/// The number of tokens that a model of texts has positions for; nullopt if config.json does not
/// say it. Error as for `inputs_of`.
std::optional<int> positions_of(const std::string& folder);

/// Whether the model has several results, the first of which transformers compares with labels
/// (`logits`).
bool has_logits_first(const std::string& folder);

/// What a model tells texts apart by.
struct TextClasses {
  std::vector<std::string> names;  ///< in the order of the model's results
  bool exclusive = true;           ///< a text has one of them, not any number
};

/// The classes of a folder with a head for classes of texts; nullopt for other models. Error as
/// for `inputs_of`.
std::optional<TextClasses> text_classes_of(const std::string& folder);

struct Imported {
  ir::Graph graph;
  std::vector<std::string> notes;  ///< sentences about what the import assumed or changed
};

/// The graph; it takes other batches and lengths than its examples have, too.
/// Error(Fault::unsupported) for an architecture or a setting that is not known, Error(Fault::file)
/// for files that are not sound or do not fit each other, each naming the file, and
/// Error(Fault::config) for examples that do not fit.
Imported import_folder(const std::string& folder, const ImportOptions& options);

}  // namespace mase::huggingface
