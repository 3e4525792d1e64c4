// SPDX-License-Identifier: Apache-2.0
// Reads values by key and kind.
#include "huggingface/config.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"

namespace mase::huggingface {
namespace {

constexpr std::size_t largest_config = std::size_t{16} << 20;  ///< bytes

/// Keys about training, generation, texts and where a model comes from.
constexpr std::string_view unrelated[] = {"_name_or_path",
                                          "_commit_hash",
                                          "_attn_implementation_autoset",
                                          "architectures",
                                          "attn_implementation",
                                          "auto_map",
                                          "begin_suppress_tokens",
                                          "bos_token_id",
                                          "chunk_size_feed_forward",
                                          "classifier_dropout",
                                          "seq_classif_dropout",
                                          "id2label",
                                          "num_labels",
                                          "decoder_start_token_id",
                                          "dtype",
                                          "encoder_stride",
                                          "eos_token_id",
                                          "finetuning_task",
                                          "gradient_checkpointing",
                                          "init_std",
                                          "initializer_factor",
                                          "initializer_range",
                                          "label2id",
                                          "layerdrop",
                                          "max_window_layers",
                                          "model_type",
                                          "output_attentions",
                                          "output_hidden_states",
                                          "output_past",
                                          "pad_token_id",
                                          "pooler_act",
                                          "pooler_output_size",
                                          "prefix",
                                          "pretraining_tp",
                                          "problem_type",
                                          "qa_dropout",
                                          "return_dict",
                                          "sep_token_id",
                                          "summary_activation",
                                          "summary_first_dropout",
                                          "summary_proj_to_labels",
                                          "summary_type",
                                          "summary_use_proj",
                                          "task_specific_params",
                                          "tie_word_embeddings",
                                          "torch_dtype",
                                          "torchscript",
                                          "transformers_version",
                                          "use_cache",
                                          "out_features",
                                          "out_indices",
                                          "stage_names",
                                          "n_ctx",
                                          "vocab_size"};

constexpr std::int64_t largest_size = std::int64_t{1} << 31;
constexpr std::int64_t most_layers = 10'000;  ///< more are a mistake, and would take all memory

std::string quoted(std::string_view key) { return "'" + std::string(key) + "'"; }

}  // namespace

Config::Config(const std::string& path)
    : path_(path), tree_(parse_json(read_file(path, largest_config), path)) {
  if (!tree_.is_dict()) file_error(path + ": it is not a table of settings");
}

const Tree* Config::find(std::string_view key) const {
  read_.emplace(key);
  const Tree* found = tree_.find(key);
  return found && !found->is_null() ? found : nullptr;
}

void Config::wrong(std::string_view key, const std::string& reason) const {
  file_error(path_ + ": " + quoted(key) + " " + reason);
}

std::int64_t Config::integer(std::string_view key, std::int64_t otherwise) const {
  const Tree* found = find(key);
  if (!found) return otherwise;
  if (!found->is_int())
    wrong(key, "is of kind " + std::string(found->kind_name()) + ", not integer");
  return found->as_int();
}

std::int64_t Config::size(std::string_view key, std::int64_t otherwise) const {
  const std::int64_t value = integer(key, otherwise);
  if (value < 1 || value > largest_size)
    wrong(key, "is " + std::to_string(value) + " and must be a size");
  return value;
}

std::int64_t Config::size(std::string_view key) const {
  if (!find(key)) wrong(key, "is missing");
  return size(key, 1);
}

std::int64_t Config::layers(std::string_view key) const {
  const std::int64_t count = size(key);
  if (count > most_layers)
    wrong(key, "is " + std::to_string(count) + "; the most are " + std::to_string(most_layers));
  return count;
}

std::int64_t Config::quotient(std::string_view key, std::string_view by) const {
  const std::int64_t whole = size(key), parts = size(by);
  if (whole % parts != 0) wrong(by, "does not divide " + quoted(key));
  return whole / parts;
}

bool Config::is_none(std::string_view key) const {
  read_.emplace(key);
  const Tree* found = tree_.find(key);
  return found && found->is_null();
}

std::vector<std::int64_t> Config::sizes(std::string_view key) const {
  const Tree* found = find(key);
  if (!found) wrong(key, "is missing");
  std::vector<std::int64_t> values;
  if (!found->is_list() || found->size() == 0) wrong(key, "is not a list of sizes");
  for (const Tree& item : found->as_list()) {
    if (!item.is_int() || item.as_int() < 1 || item.as_int() > largest_size)
      wrong(key, "is not a list of sizes");
    values.push_back(item.as_int());
  }
  return values;
}

std::pair<std::int64_t, std::int64_t> Config::sides(std::string_view key) const {
  const Tree* found = find(key);
  if (!found || !found->is_list()) {
    const std::int64_t side = size(key);
    return {side, side};
  }
  const std::vector<std::int64_t> both = sizes(key);
  if (both.size() != 2) wrong(key, "has not two sizes");
  return {both[0], both[1]};
}

double Config::number(std::string_view key, double otherwise) const {
  const Tree* found = find(key);
  if (!found) return otherwise;
  if (!found->is_number())
    wrong(key, "is of kind " + std::string(found->kind_name()) + ", not a number");
  return found->as_double();
}

bool Config::truth(std::string_view key, bool otherwise) const {
  const Tree* found = find(key);
  if (!found) return otherwise;
  if (!found->is_bool()) wrong(key, "is of kind " + std::string(found->kind_name()) + ", not bool");
  return found->as_bool();
}

std::string Config::text(std::string_view key, const std::string& otherwise) const {
  const Tree* found = find(key);
  if (!found) return otherwise;
  if (!found->is_string())
    wrong(key, "is of kind " + std::string(found->kind_name()) + ", not string");
  return found->as_string();
}

std::int64_t Config::labels() const {
  constexpr std::int64_t usual = 2;
  const Tree* names = find("id2label");
  if (names && names->is_dict() && names->size() > 0)
    return static_cast<std::int64_t>(names->size());
  return size("num_labels", usual);
}

std::optional<std::string> Config::label(std::int64_t number) const {
  const Tree* names = find("id2label");
  const Tree* name = names && names->is_dict() ? names->find(std::to_string(number)) : nullptr;
  return name && name->is_string() ? std::optional(name->as_string()) : std::nullopt;
}

void Config::refuse(std::string_view key, const std::string& known) const {
  const Tree* found = find(key);
  unsupported_error(path_ + ": " + quoted(key) + " is " +
                    (found ? to_json(*found, -1) : "missing") + "; known is " + known +
                    ". Trace the model (torch.jit.trace) or export it (torch.export) instead, and "
                    "give mase that file");
}

void Config::require(std::string_view key, const Tree& only) const {
  const Tree* found = find(key);
  if (found && !(*found == only)) refuse(key, to_json(only, -1));
}

std::vector<std::string> Config::unread() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : tree_.as_dict())
    if (!value.is_null() && !read_.contains(key) &&
        std::ranges::find(unrelated, key) == std::end(unrelated))
      keys.push_back(key);
  return keys;
}

}  // namespace mase::huggingface
