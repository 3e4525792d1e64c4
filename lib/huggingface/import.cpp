// SPDX-License-Identifier: Apache-2.0
// Reads config.json and the weights, and lets the architecture's row build the graph.
#include "huggingface/import.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/text.hpp"
#include "huggingface/architectures.hpp"
#include "huggingface/origin.hpp"

namespace mase::huggingface {
namespace {

constexpr std::int64_t usual_rows = 2, usual_tokens = 16;

std::string config_file(const std::string& folder) {
  return (std::filesystem::path(folder) / "config.json").string();
}

std::vector<std::string> input_names(const Architecture& row, const ImportOptions& options) {
  if (row.takes == Takes::images) return {"pixel_values"};
  std::vector<std::string> names{"input_ids"};
  if (!options.all_seen) names.emplace_back("attention_mask");
  if (options.token_types && row.token_types) names.emplace_back("token_type_ids");
  return names;
}

/// Kinds of quantized weights that model.dequantize() of transformers turns back to floats.
constexpr std::string_view dequantized_kinds[] = {"bitsandbytes", "higgs"};

[[noreturn]] void refuse_quantized(const Config& config, const Tree& settings) {
  const Tree* method = settings.is_dict() ? settings.find("quant_method") : nullptr;
  const std::string kind = method && method->is_string() ? method->as_string() : "";
  const bool turns_back = std::ranges::find(dequantized_kinds, kind) != std::end(dequantized_kinds);
  unsupported_error(config.path() + ": 'quantization_config' says that the weights are quantized" +
                    (kind.empty() ? "" : " by " + kind) +
                    ", which is not read. Give the folder of the model before it was quantized" +
                    (turns_back ? ", or in Python save model.dequantize() with "
                                  "save_pretrained(FOLDER)"
                                : ""));
}

/// What no architecture has, whatever its other settings.
void refuse_everywhere(const Config& config) {
  if (const Tree* settings = config.find("quantization_config"))
    refuse_quantized(config, *settings);
  for (const char* key : {"is_encoder_decoder", "is_decoder", "add_cross_attention"})
    config.require(key, false);
  const Tree* pruned = config.find("pruned_heads");
  if (pruned && pruned->size() > 0) config.refuse("pruned_heads", "{}");
}

/// The shape of token numbers: that of the example of any text input, since all have one.
Shape text_shape(const Config& config, const std::map<std::string, Array>& examples) {
  const std::int64_t most = config.size("max_position_embeddings", usual_tokens);
  for (const auto& [name, example] : examples)
    if (example.shape().size() == 2) return example.shape();
  return {usual_rows, std::min(usual_tokens, most)};
}

Ref add_images(Builder& builder) {
  const Config& config = builder.config();
  const std::int64_t channels = config.size("num_channels", 3);
  constexpr std::int64_t usual_side = 224;
  const auto [height, width] =
      config.find("image_size") ? config.sides("image_size") : std::pair{usual_side, usual_side};
  return builder.input("pixel_values", DType::float32, {usual_rows, channels, height, width});
}

/// Images, or ids, mask and types of texts; None for what is not an input.
std::vector<Ref> add_inputs(Builder& builder, const Architecture& row,
                            const ImportOptions& options) {
  if (row.takes == Takes::images) return {add_images(builder)};
  const Shape shape = text_shape(builder.config(), options.examples);
  const std::vector<std::string> names = input_names(row, options);
  std::vector<Ref> inputs;
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids"})
    inputs.push_back(std::ranges::count(names, name) > 0 ? builder.input(name, DType::int64, shape)
                                                         : Ref());
  return inputs;
}

std::vector<std::string> notes_on(const Config& config, const Weights& weights) {
  std::vector<std::string> notes;
  const std::vector<std::string> unread = config.unread();
  if (!unread.empty())
    notes.push_back("config.json: nothing uses " + join(unread, ", ") +
                    "; if one of them changes the results, they differ from those of transformers");
  if (!weights.converted().empty())
    notes.push_back("weights of " +
                    join({weights.converted().begin(), weights.converted().end()}, ", ") +
                    " are float32 in the graph");
  return notes;
}

}  // namespace

bool is_model_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) &&
         std::filesystem::is_regular_file(config_file(path), error);
}

std::vector<std::string> inputs_of(const std::string& folder, const ImportOptions& options) {
  return input_names(architecture_of(Config(config_file(folder))), options);
}

std::optional<int> positions_of(const std::string& folder) {
  const Config config(config_file(folder));
  const Architecture& row = architecture_of(config);
  for (const char* key : {"max_position_embeddings", "n_positions"})
    if (row.takes == Takes::texts && config.find(key)) {
      const std::int64_t unused = row.first_position ? row.first_position(config) : 0;
      return static_cast<int>(std::clamp<std::int64_t>(config.size(key) - unused, 1, INT32_MAX));
    }
  return std::nullopt;
}

bool has_logits_first(const std::string& folder) {
  const Architecture* row = find_architecture(Config(config_file(folder)));
  return row && row->logits_first;
}

std::optional<TextClasses> text_classes_of(const std::string& folder) {
  const Config config(config_file(folder));
  const Architecture& row = architecture_of(config);
  if (!row.name.ends_with("ForSequenceClassification")) return std::nullopt;
  TextClasses classes;
  for (std::int64_t i = 0; i < config.labels(); ++i)
    classes.names.push_back(config.label(i).value_or("LABEL_" + std::to_string(i)));
  classes.exclusive =
      classes.names.size() > 1 && config.text("problem_type", "") != "multi_label_classification";
  return classes;
}

Imported import_folder(const std::string& folder, const ImportOptions& options) {
  const Config config(config_file(folder));
  const Architecture& row = architecture_of(config);
  refuse_everywhere(config);
  Weights weights(folder, row.naming);
  Builder builder(config, weights, options.examples, std::string(row.name),
                  std::string(row.classes));
  Imported imported;
  const std::vector<Ref> inputs = add_inputs(builder, row, options);
  imported.graph = builder.finish(row.build(builder, inputs));
  remember(origin_of_folder(folder, weights), imported.graph);
  imported.notes = notes_on(config, weights);
  return imported;
}

}  // namespace mase::huggingface
