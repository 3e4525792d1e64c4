// SPDX-License-Identifier: Apache-2.0
// Folders of transformers. The graph is built without LibTorch; inputs without an example are
// small.
#include "huggingface/import.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "driver/loading/sources.hpp"
#include "driver/loading/text_input.hpp"
#include "driver/text_settings.hpp"

namespace mase::driver {
namespace {

constexpr const char* mask_input = "attention_mask";

const std::string unmasking =
    "attention_mask = \"none\" in the table [cf_args] of a configuration lets all tokens be seen, "
    "and so does the option --fix attention_mask=none of commands that have it";

/// Whether attention_mask is None; nothing else can be fixed.
bool sees_all(const ModelRequest& request) {
  const std::map<std::string, Tree> fixed = fixed_values(request);
  for (const auto& [name, value] : fixed)
    if (name != mask_input || !(value.is_null() || value == Tree("none")))
      config_error("the fixed argument '" + name + "': a folder of transformers has only one; " +
                   unmasking);
  return !fixed.empty();
}

/// No token is padding unless the user says so.
Array unmasked(const Shape& shape) {
  Array values(DType::int64, shape);
  std::ranges::fill(values.mutable_span<std::int64_t>(), 1);
  return values;
}

/// Data of token numbers alone fit a model that has a mask to take only if the user says so.
void check_inputs(const ModelRequest& request, const std::vector<std::string>& names) {
  if (request.dataset && request.dataset->inputs.size() == 1 && names.size() >= 2)
    config_error(request.model + " takes input_ids and attention_mask, but the data set " +
                 request.dataset->name + " has one input; " + unmasking);
}

/// Whether the data or an option tell the tokens of a second text.
bool has_types(const ModelRequest& request) {
  const auto is_named = [](const std::string& text) { return text.starts_with("token_type_ids="); };
  if (std::ranges::any_of(request.input.inputs, is_named) ||
      std::ranges::any_of(request.input.input_shapes, is_named))
    return true;
  return request.dataset && tell_second_texts(*request.dataset);
}

bool has_example(const ModelRequest& request) {
  return request.dataset || !request.input.inputs.empty() || !request.input.input_shapes.empty();
}

LoadedModel import_folder(const ModelRequest& request) {
  refuse_option(request, option_about_modules(request.input), "a folder of transformers");
  huggingface::ImportOptions options;
  options.all_seen = sees_all(request);
  options.token_types = has_types(request);
  const std::vector<std::string> names = huggingface::inputs_of(request.model, options);
  check_inputs(request, names);
  options.examples = by_name(requested_inputs(request, names), names);
  const auto ids = options.examples.find("input_ids");
  if (ids != options.examples.end() && !options.all_seen)
    options.examples.try_emplace(mask_input, unmasked(ids->second.shape()));
  huggingface::Imported imported = huggingface::import_folder(request.model, options);
  LoadedModel loaded =
      with_examples(request, std::move(imported.graph), imported.notes, options.examples);
  loaded.has_shapes = knows_shapes(loaded);
  return loaded;
}

}  // namespace

std::optional<LoadedModel> from_huggingface(const ModelRequest& request) {
  if (!looks_like_path(request.model) || !huggingface::is_model_folder(request.model))
    return std::nullopt;
  std::optional<data::Dataset> texts;
  if (!has_example(request)) texts = usual_texts(request.model);
  if (!texts) return import_folder(request);
  ModelRequest with_texts = request;
  with_texts.dataset = &*texts;
  with_texts.example_rows = texts->row_count();
  return import_folder(with_texts);
}

}  // namespace mase::driver
