// SPDX-License-Identifier: Apache-2.0
// Sentences as example inputs: a tokenizer makes the ids, masks and types of a model's arguments.
#pragma once

#include <optional>
#include <string>

#include "data/dataset.hpp"
#include "driver/commands/commands.hpp"
#include "driver/settings.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// The texts of --text as rows of a data set without labels: int64[texts, tokens] with as many
/// tokens as the longest text has, or max_token_len. The tokenizer is that of the options, or else
/// the one in the folder `model`. Error(Fault::config) if neither is there, and for more tokens
/// than the model has positions; the log says how many texts are cut to these.
data::Dataset text_rows(const std::string& model, const ModelInput& input);

/// The tokenizer that the checkpoint `model` was made with; nullopt for other models, and for a
/// checkpoint that was made without.
std::optional<std::string> remembered_tokenizer(const std::string& model);

/// The number of tokens to which a pass or an export has fixed the rows of the graph's first input;
/// nullopt if it takes any number.
std::optional<int> fixed_tokens(const ir::Graph& graph);

/// Two sentences for a folder of transformers that has a tokenizer; nothing for other models. A
/// tokenizer that cannot be read is a warning.
std::optional<data::Dataset> usual_texts(const std::string& model);

/// The sentences of a configuration, if the command line gives none. The log says so where rows of
/// a data set or arrays are the example input in their place.
void take_texts(const std::vector<std::string>& texts, bool has_data, ModelInput& input);

/// The options of texts where a command has them as settings of data sets.
void take_text_options(const data::DataOptions& options, ModelInput& input);
void take_text_options(const Tree& settings, ModelInput& input);

}  // namespace mase::driver
