// SPDX-License-Identifier: Apache-2.0
// What a folder of transformers says of its tokenizer outside of tokenizer.json.
#pragma once

#include <optional>
#include <string>

#include "tokenizer/vocabulary.hpp"

namespace mase::tokenizer {

/// The keys of tokenizer_config.json, and of special_tokens_map.json where the former is silent.
struct FolderSettings {
  std::optional<std::string> pad_token;
  std::optional<TokenId> pad_id;       ///< pad_token_id of the model, in config.json
  std::optional<std::size_t> longest;  ///< model_max_length, unless it stands for "any length"
  bool pads_left = false;              ///< padding_side
};

/// The settings of a folder; those of a file, or of a folder without such files, are empty.
/// Error(Fault::file) names file and key for a value of another type.
FolderSettings read_folder_settings(const std::string& path);

}  // namespace mase::tokenizer
