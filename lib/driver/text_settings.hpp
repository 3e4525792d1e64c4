// SPDX-License-Identifier: Apache-2.0
// What a model decides about texts: its folder's tokenizer makes the ids, and it has positions for
// so many of them.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "driver/settings.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// If the data set is `text`, the tokenizer of the model's folder is that of the data unless the
/// user has given the setting (NA for bytes), and the log says so. Texts get no more tokens than
/// the model has positions.
void follow_text_model(const std::string& model, const SettingSources& sources, Settings& settings);

/// Rows of a tokenizer are as long as the longest text; `max_token_len` gets this length, so that a
/// checkpoint reads rows of the same length again.
void keep_token_length(const data::Dataset& dataset, Settings& settings);

/// Whether the rows tell which tokens are of a second text: by an array token_type_ids of the
/// user's own, or by one of a tokenizer that has made pairs.
bool tell_second_texts(const data::Dataset& dataset);

/// Warns of pairs of texts for a model that has no argument for which text a token is of.
void warn_of_lost_types(const std::vector<std::string>& arguments, const data::Dataset& dataset);

/// Error(Fault::config) if a tokenizer gives ids for which an embedding of the model has no row.
void require_embedded(const ir::Graph& graph, const data::Dataset& dataset);

}  // namespace mase::driver
