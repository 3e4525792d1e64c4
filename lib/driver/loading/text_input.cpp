// SPDX-License-Identifier: Apache-2.0
// Finds the tokenizer and lets the data set's code make the rows.
#include "driver/loading/text_input.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "data/texts.hpp"
#include "driver/stored_data.hpp"
#include "huggingface/import.hpp"
#include "tokenizer/tokenizer.hpp"

namespace mase::driver {
namespace {

/// What a graph is built for when the user gives no example.
const std::vector<std::string> usual_sentences{"This is a text.",
                                               "Another one is a little longer."};

std::string tokenizer_of(const std::string& model, const ModelInput& input) {
  if (input.tokenizer) return *input.tokenizer;
  if (std::filesystem::is_directory(model) && file_exists(tokenizer::tokenizer_file(model)))
    return model;
  config_error("--text needs a tokenizer: name a tokenizer.json, or a folder that has it, with " +
               std::string("--tokenizer; ") + model + " has none");
}

data::Dataset rows_of(const std::string& name, const std::vector<std::string>& texts,
                      const data::DataOptions& options) {
  data::Texts given;
  given.path = name;
  given.texts = texts;
  given.place = [name](std::size_t row) { return name + " " + std::to_string(row + 1); };
  data::Dataset dataset;
  dataset.name = name;
  dataset.inputs = data::tokenized_columns(given, options);
  dataset.train.resize(texts.size());
  std::iota(dataset.train.begin(), dataset.train.end(), 0);
  return dataset;
}

}  // namespace

data::Dataset text_rows(const std::string& model, const ModelInput& input) {
  if (!input.inputs.empty() || !input.input_shapes.empty())
    config_error("--text makes all inputs; leave out --input and --input-shape");
  for (const std::string& text : input.texts)
    if (trim(text).empty()) config_error("--text: a text is empty");
  data::DataOptions options;
  options.tokenizer = tokenizer_of(model, input);
  options.max_token_len = input.max_token_len;
  if (huggingface::is_model_folder(model)) options.token_limit = huggingface::positions_of(model);
  if (options.max_token_len && options.token_limit && *options.max_token_len > *options.token_limit)
    config_error("max_token_len (--max-token-len) is " + std::to_string(*options.max_token_len) +
                 ", but " + model + " has positions for " + std::to_string(*options.token_limit) +
                 " tokens");
  return rows_of("--text", input.texts, options);
}

std::optional<std::string> remembered_tokenizer(const std::string& model) {
  Settings settings;
  settings.general.model = model;
  const auto stored = stored_data(settings);
  if (!stored || !stored->options.tokenizer) return std::nullopt;
  log::info("taken from " + stored->path + ": tokenizer = " + *stored->options.tokenizer);
  return stored->options.tokenizer;
}

std::optional<int> fixed_tokens(const ir::Graph& graph) {
  const std::vector<ir::NodeId> inputs = graph.placeholders();
  if (inputs.empty()) return std::nullopt;
  const ir::Node& ids = graph.node(inputs.front());
  const std::string size = "size(" + ids.target + ", 1)";
  const auto fixes = [&](const ir::Guard& guard) {
    return guard.condition.starts_with(size + " is ") || guard.condition.starts_with(size + " == ");
  };
  if (ids.info.shape.size() != 2 || std::ranges::none_of(graph.guards, fixes)) return std::nullopt;
  return static_cast<int>(ids.info.shape[1]);
}

std::optional<data::Dataset> usual_texts(const std::string& model) {
  const bool takes_texts = huggingface::inputs_of(model, {}).front() == "input_ids";
  if (!takes_texts || !file_exists(tokenizer::tokenizer_file(model))) return std::nullopt;
  data::DataOptions options;
  options.tokenizer = model;
  options.token_limit = huggingface::positions_of(model);
  try {
    return rows_of("two sentences as example", usual_sentences, options);
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    log::warning(std::string(error.what()) + "; the example is token numbers without a text");
    return std::nullopt;
  }
}

void take_texts(const std::vector<std::string>& texts, bool has_data, ModelInput& input) {
  if (texts.empty() || !input.texts.empty()) return;
  if (has_data || !input.inputs.empty() || !input.input_shapes.empty())
    log::info("the configuration's text is not used, since other rows are the example input");
  else
    input.texts = texts;
}

void take_text_options(const data::DataOptions& options, ModelInput& input) {
  if (input.texts.empty()) return;
  input.tokenizer = options.tokenizer;
  input.max_token_len = options.max_token_len;
}

void take_text_options(const Tree& settings, ModelInput& input) {
  data::DataOptions options;
  if (const Tree* found = settings.find("tokenizer"); found && *found != Tree("NA"))
    options.tokenizer = found->as_string();
  if (const Tree* found = settings.find("max_token_len"); found && found->is_int())
    options.max_token_len = static_cast<int>(found->as_int());
  take_text_options(options, input);
}

}  // namespace mase::driver
