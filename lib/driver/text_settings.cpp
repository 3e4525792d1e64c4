// SPDX-License-Identifier: Apache-2.0
// Takes tokenizer and lengths from the folder of a model.
#include "driver/text_settings.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "huggingface/import.hpp"
#include "ir/op_table.hpp"
#include "tokenizer/tokenizer.hpp"

namespace mase::driver {
namespace {

constexpr const char* types_input = "token_type_ids";

/// The columns of a tokenizer's ids. Masks and types, which it also makes, have few numbers.
bool has_ids(const data::InputColumn& column) { return column.tokens && !column.is_optional; }

void require_rows(const data::InputColumn& column, const std::string& path, const Shape& table) {
  const std::int64_t largest = std::ranges::max(column.values.span<std::int64_t>());
  if (largest < table.front()) return;
  config_error("the tokenizer " + column.tokens->tokenizer + " gives the id " +
               std::to_string(largest) + ", but the model's embedding " + path + " has " +
               std::to_string(table.front()) +
               " rows; give the tokenizer that the model was trained with (--tokenizer)");
}

}  // namespace

void follow_text_model(const std::string& model, const SettingSources& sources,
                       Settings& settings) {
  const data::DatasetRow* const row = data::find_dataset(*settings.general.dataset);
  if (!row || row->name != "text") return;
  data::DataOptions& data = settings.data;
  const std::string own = tokenizer::tokenizer_file(model);
  if (!sources.give("tokenizer") && !data.tokenizer && file_exists(own)) {
    data.tokenizer = model;
    log::info("texts become the ids of " + own + ", the model's tokenizer (tokenizer = NA takes " +
              "their bytes)");
  }
  data.token_limit = huggingface::positions_of(model);
}

void keep_token_length(const data::Dataset& dataset, Settings& settings) {
  const data::InputColumn& first = dataset.inputs.front();
  if (first.tokens && !settings.data.max_token_len)
    settings.data.max_token_len = static_cast<int>(first.values.shape().back());
}

bool tell_second_texts(const data::Dataset& dataset) {
  const auto column = std::ranges::find(dataset.inputs, types_input, &data::InputColumn::name);
  if (column == dataset.inputs.end()) return false;
  if (!column->is_optional) return true;  // not a tokenizer's
  const auto types = column->values.span<std::int64_t>();
  return std::ranges::any_of(types, [](std::int64_t type) { return type != 0; });
}

void warn_of_lost_types(const std::vector<std::string>& arguments, const data::Dataset& dataset) {
  if (std::ranges::count(arguments, types_input) == 0 && tell_second_texts(dataset))
    log::warning(
        "the model has no input token_type_ids, so it is not told which tokens are of the second "
        "text of a pair; a model that was trained with them gives other results");
}

void require_embedded(const ir::Graph& graph, const data::Dataset& dataset) {
  const std::vector<ir::NodeId> placeholders = graph.placeholders();
  for (std::size_t i = 0; i < std::min(placeholders.size(), dataset.inputs.size()); ++i) {
    if (!has_ids(dataset.inputs[i])) continue;
    for (const ir::NodeId user : graph.users(placeholders[i])) {
      const ir::Node& node = graph.node(user);
      if (ir::classify(graph, node).op != "embedding") continue;
      if (const std::string* path = graph.tensor_of(node, "weight"))
        require_rows(dataset.inputs[i], *path, graph.tensors.at(*path).value.shape());
    }
  }
}

}  // namespace mase::driver
