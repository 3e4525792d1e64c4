// SPDX-License-Identifier: Apache-2.0
// Reads tokenizer_config.json, special_tokens_map.json and what config.json says of padding.
#include "tokenizer/folder_settings.hpp"

#include <filesystem>

#include "base/file.hpp"
#include "tokenizer/section.hpp"

namespace mase::tokenizer {
namespace {

constexpr std::size_t largest_settings = std::size_t{16} << 20;
constexpr double any_length = 1 << 30;  ///< transformers writes 1e30 for "any"

/// A token is a text, or a table with its text.
std::optional<std::string> token_of(const Section& file, std::string_view key) {
  const auto token = file.find(key);
  if (!token) return std::nullopt;
  return token->tree().is_dict() ? token->text("content") : token->as_text();
}

std::optional<std::size_t> length_of(const Section& file) {
  const auto length = file.find("model_max_length");
  if (!length) return std::nullopt;
  const double value = length->as_double();
  if (value < 1) length->fail("must be a number of tokens");
  return value < any_length ? std::optional(static_cast<std::size_t>(value)) : std::nullopt;
}

/// Calls see(section) if the folder has the file.
template <class See>
void with_file(const std::string& path, See see) {
  if (!file_exists(path)) return;
  const Tree tree = parse_json(read_file(path, largest_settings), path);
  see(Section::of_file(tree, path));
}

}  // namespace

FolderSettings read_folder_settings(const std::string& path) {
  FolderSettings settings;
  if (!std::filesystem::is_directory(path)) return settings;
  with_file(path + "/tokenizer_config.json", [&](const Section& file) {
    settings.pad_token = token_of(file, "pad_token");
    settings.longest = length_of(file);
    settings.pads_left = file.text("padding_side", "right") == "left";
  });
  with_file(path + "/special_tokens_map.json", [&](const Section& file) {
    if (!settings.pad_token) settings.pad_token = token_of(file, "pad_token");
  });
  with_file(path + "/config.json", [&](const Section& file) {
    const auto id = file.find("pad_token_id");
    if (id && id->tree().is_int() && id->tree().as_int() >= 0) settings.pad_id = id->as_number();
  });
  return settings;
}

}  // namespace mase::tokenizer
