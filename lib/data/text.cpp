// SPDX-License-Identifier: Apache-2.0
// The text data set: the bytes of a file as token ids, and the next byte at every position.
#include <cctype>

#include "base/error.hpp"
#include "base/file.hpp"
#include "data/assemble.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

constexpr std::int64_t vocabulary = 256;  ///< every byte is a token
constexpr std::int64_t fewest_rows = 10;  ///< enough for three parts by the default shares

/// The name of a token: "a", or "0x0a" for a byte that is not visible in a table.
std::string token_name(std::int64_t token) {
  if (token < 128 && std::isgraph(static_cast<int>(token))) return {static_cast<char>(token)};
  constexpr char digits[] = "0123456789abcdef";
  return {'0', 'x', digits[token / 16], digits[token % 16]};
}

/// Row i is the window of tokens from i * window + `ahead` on.
Array windows(const std::string& text, std::int64_t rows, std::int64_t window, std::size_t ahead) {
  Array tokens(DType::int64, {rows, window});
  auto out = tokens.mutable_span<std::int64_t>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<unsigned char>(text[i + ahead]);
  return tokens;
}

}  // namespace

Dataset load_text(const DataOptions& options) {
  const std::string path = options.data_dir.empty()
                               ? share_folder() + "/configs/data/text/pride_and_prejudice_1.txt"
                               : only_file(options.data_dir, {".txt", ".csv", ".jsonl"});
  if (path.ends_with(".csv") || path.ends_with(".jsonl")) return load_labelled_texts(path, options);
  require_only(options, "text", {"data_dir", "validation_share", "test_share", "max_token_len"});
  const std::string text = read_file(path);
  const std::int64_t window = options.max_token_len.value_or(default_tokens);
  const std::int64_t rows = (static_cast<std::int64_t>(text.size()) - 1) / window;
  if (rows < fewest_rows)
    file_error(path + ": " + std::to_string(text.size()) + " bytes are too few for " +
               std::to_string(fewest_rows) + " rows of " + std::to_string(window) +
               " tokens and the one after them; use a longer text or a smaller max_token_len");
  Dataset dataset;
  dataset.name = "text";
  dataset.inputs = {{"x", windows(text, rows, window, 0)}};
  Target next{"y", "next_token", windows(text, rows, window, 1)};
  for (std::int64_t token = 0; token < vocabulary; ++token)
    next.class_names.push_back(token_name(token));
  dataset.targets = {std::move(next)};
  split_in_order(dataset, options);
  finish(dataset, path);
  return dataset;
}

}  // namespace mase::data
