// SPDX-License-Identifier: Apache-2.0
// The text data set: the bytes of a file or the ids of a tokenizer, and the next one at every
// position.
#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "base/file.hpp"
#include "data/assemble.hpp"
#include "data/sources.hpp"
#include "data/texts.hpp"

namespace mase::data {
namespace {

constexpr std::int64_t byte_count = 256;  ///< every byte is a token
constexpr std::int64_t fewest_rows = 10;  ///< enough for three parts by the default shares

/// The name of a byte: "a", or "0x0a" for one that is not visible in a table.
std::string byte_name(std::int64_t byte) {
  if (byte < 128 && std::isgraph(static_cast<int>(byte))) return {static_cast<char>(byte)};
  constexpr char digits[] = "0123456789abcdef";
  return {'0', 'x', digits[byte / 16], digits[byte % 16]};
}

TokenStream bytes_of(const std::string& text) {
  TokenStream stream;
  stream.ids.reserve(text.size());
  for (const char c : text) stream.ids.push_back(static_cast<unsigned char>(c));
  for (std::int64_t byte = 0; byte < byte_count; ++byte)
    stream.class_names.push_back(byte_name(byte));
  return stream;
}

/// Row i is the window of tokens from i * window + `ahead` on.
Array windows(const TokenStream& stream, std::int64_t rows, std::int64_t window,
              std::size_t ahead) {
  Array tokens(DType::int64, {rows, window});
  auto out = tokens.mutable_span<std::int64_t>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = stream.ids[i + ahead];
  return tokens;
}

/// Ones for a model with an argument for them: windows have no padding.
InputColumn seen_everywhere(const Shape& shape) {
  InputColumn column{"attention_mask", Array(DType::int64, shape)};
  std::ranges::fill(column.values.mutable_span<std::int64_t>(), 1);
  column.is_optional = true;
  return column;
}

/// The tokens of a row: a model with few positions bounds the default.
std::int64_t window_of(const DataOptions& options) {
  return options.max_token_len.value_or(
      std::min(default_tokens, options.token_limit.value_or(default_tokens)));
}

}  // namespace

Dataset load_text(const DataOptions& options) {
  const std::string path = options.data_dir.empty()
                               ? share_folder() + "/configs/data/text/pride_and_prejudice_1.txt"
                               : only_file(options.data_dir, {".txt", ".csv", ".jsonl"});
  if (path.ends_with(".csv") || path.ends_with(".jsonl")) return load_labelled_texts(path, options);
  require_only(options, "text",
               {"data_dir", "validation_share", "test_share", "max_token_len", "tokenizer"});
  const TokenStream stream = options.tokenizer ? tokenize_stream(path, read_file(path), options)
                                               : bytes_of(read_file(path));
  const std::int64_t window = window_of(options);
  const std::int64_t rows = (static_cast<std::int64_t>(stream.ids.size()) - 1) / window;
  if (rows < fewest_rows)
    file_error(path + ": " + std::to_string(stream.ids.size()) +
               (options.tokenizer ? " tokens" : " bytes") + " are too few for " +
               std::to_string(fewest_rows) + " rows of " + std::to_string(window) +
               " tokens and the one after them; use a longer text or a smaller max_token_len");
  Dataset dataset;
  dataset.name = "text";
  InputColumn tokens{"x", windows(stream, rows, window, 0)};
  tokens.tokens = stream.facts;
  dataset.inputs = {std::move(tokens)};
  if (options.tokenizer) dataset.inputs.push_back(seen_everywhere({rows, window}));
  dataset.targets = {{"y", "next_token", windows(stream, rows, window, 1), stream.class_names}};
  split_in_order(dataset, options);
  finish(dataset, path);
  return dataset;
}

}  // namespace mase::data
