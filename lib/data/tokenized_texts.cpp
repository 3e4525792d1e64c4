// SPDX-License-Identifier: Apache-2.0
// Texts through a tokenizer, in several threads.
#include <algorithm>
#include <thread>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "data/text_tokenizer.hpp"
#include "data/texts.hpp"

namespace mase::data {
namespace {

using tokenizer::Encoding;
using tokenizer::TokenId;
using tokenizer::Tokenizer;

/// A row without what it is padded with.
struct TokenRow {
  std::vector<TokenId> ids;
  std::vector<std::uint32_t> types;
  bool is_cut = false;
};

/// So many bytes take as long as another tokenizer.
constexpr std::size_t bytes_for_a_thread = std::size_t{1} << 18;

int threads_for(const Texts& texts, const DataOptions& options) {
  std::size_t bytes = 0;
  for (const auto* all : {&texts.texts, &texts.pairs})
    for (const std::string& text : *all) bytes += text.size();
  const auto worth = static_cast<int>(std::min<std::size_t>(bytes / bytes_for_a_thread + 1, 4096));
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::min(worth, options.num_workers > 0 ? options.num_workers : cores);
}

/// How many tokens a row may have; nullopt for any number.
std::optional<std::size_t> most_tokens(const TextTokenizer& tokenizer, const DataOptions& options) {
  if (options.max_token_len) return static_cast<std::size_t>(*options.max_token_len);
  std::optional<std::size_t> most = tokenizer.longest();
  if (options.token_limit)
    most = std::min(most.value_or(SIZE_MAX), static_cast<std::size_t>(*options.token_limit));
  return most;
}

TokenRow row_of(Tokenizer& tokenizer, const Texts& texts, std::size_t row) {
  Encoding encoding;
  try {
    encoding = texts.pairs.empty() ? tokenizer.encode(texts.texts[row])
                                   : tokenizer.encode_pair(texts.texts[row], texts.pairs[row]);
  } catch (const Error& error) {
    file_error(texts.place(row) + ": " + error.what());
  }
  if (encoding.size() == 0)
    file_error(texts.place(row) + ": the text has no token; leave the row out");
  return {std::move(encoding.tokens.ids), std::move(encoding.type_ids), encoding.is_cut};
}

std::vector<TokenRow> tokenize_rows(const Texts& texts, TextTokenizer& tokenizer, int threads) {
  std::vector<TokenRow> rows(texts.texts.size());
  const auto make_work = [&] {
    return [&, own = tokenizer.take()](std::size_t row) {
      if (!stop_asked()) rows[row] = row_of(*own, texts, row);
    };
  };
  for_each_index(rows.size(), threads, make_work);
  stop_if_asked();
  return rows;
}

/// Writes rows into columns, padded on one side.
std::vector<InputColumn> columns_of(const std::vector<TokenRow>& rows, std::size_t width,
                                    const TextTokenizer& tokenizer) {
  const Shape shape{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(width)};
  Array ids(DType::int64, shape), mask(DType::int64, shape), types(DType::int64, shape);
  const auto all_ids = ids.mutable_span<std::int64_t>();
  const auto all_masks = mask.mutable_span<std::int64_t>();
  const auto all_types = types.mutable_span<std::int64_t>();
  const bool is_full =
      std::ranges::all_of(rows, [&](const TokenRow& row) { return row.ids.size() == width; });
  const tokenizer::Padding padding = is_full ? tokenizer::Padding() : tokenizer.padding();
  std::ranges::fill(all_ids, padding.id);
  std::ranges::fill(all_types, padding.type_id);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t size = rows[i].ids.size();
    const std::size_t first = i * width + (tokenizer.pads_left() ? width - size : 0);
    std::ranges::copy(rows[i].ids, all_ids.begin() + static_cast<std::ptrdiff_t>(first));
    std::ranges::copy(rows[i].types, all_types.begin() + static_cast<std::ptrdiff_t>(first));
    std::ranges::fill(all_masks.subspan(first, size), 1);
  }
  InputColumn attention_mask{"attention_mask", mask}, type_ids{"token_type_ids", types};
  attention_mask.is_optional = type_ids.is_optional = true;
  return {{"x", ids}, attention_mask, type_ids};
}

/// What a user can do about texts that are cut at this many tokens.
std::string remedy_for_cut(std::size_t most, const DataOptions& options) {
  const bool has_more =
      !options.token_limit || static_cast<std::int64_t>(most) < *options.token_limit;
  return has_more ? "max_token_len allows more" : "the model has positions for no more tokens";
}

/// One line on lengths: those of the texts, that of rows, and how many texts are cut.
void tell_lengths(const Texts& texts, const std::vector<TokenRow>& rows, std::size_t width,
                  const TextTokenizer& tokenizer, const DataOptions& options) {
  const auto size = [](const TokenRow& row) { return row.ids.size(); };
  const auto [shortest, longest] = std::ranges::minmax(rows, {}, size);
  const auto cut = std::ranges::count(rows, true, &TokenRow::is_cut);
  std::string line = texts.path + ": texts have " + std::to_string(size(shortest)) + " to " +
                     std::to_string(size(longest)) + " tokens of " + tokenizer.file() +
                     ", and rows have " + std::to_string(width);
  if (cut > 0)
    line += "; " + std::to_string(cut) + " of " + std::to_string(rows.size()) +
            " texts are longer and are cut (" + remedy_for_cut(width, options) + ")";
  log::info(line);
}

/// The names of all ids: their texts.
std::vector<std::string> names_of_ids(const Tokenizer& tokenizer, const std::string& file) {
  constexpr std::size_t most_ids = std::size_t{1} << 22;
  const std::size_t count = tokenizer.id_count();
  if (count > most_ids)
    file_error(file + ": an id is " + std::to_string(count - 1) + "; ids may be below " +
               std::to_string(most_ids));
  std::vector<std::string> names;
  for (std::size_t id = 0; id < count; ++id) {
    names.push_back(tokenizer.text_of(static_cast<TokenId>(id)));
    if (names.back().empty()) names.back() = "id " + std::to_string(id);
  }
  return names;
}

}  // namespace

TokenStream tokenize_stream(const std::string& path, std::string text, const DataOptions& options) {
  TextTokenizer tokenizer(options);
  const TextTokenizer::Shared own = tokenizer.take();
  own->truncate(SIZE_MAX);
  TokenStream stream;
  try {
    stream.ids = own->encode(text, false).tokens.ids;
  } catch (const Error& error) {
    file_error(path + ": " + error.what());
  }
  stream.class_names = names_of_ids(*own, tokenizer.file());
  auto facts = std::make_shared<TokenFacts>();
  facts->tokenizer = tokenizer.file();
  stream.facts = std::move(facts);
  log::info(path + ": " + std::to_string(text.size()) + " bytes are " +
            std::to_string(stream.ids.size()) + " tokens of " + tokenizer.file());
  return stream;
}

std::vector<InputColumn> tokenized_columns(const Texts& texts, const DataOptions& options) {
  TextTokenizer tokenizer(options);
  if (const auto most = most_tokens(tokenizer, options))
    tokenizer.truncate(*most, !texts.pairs.empty());
  const std::vector<TokenRow> rows = tokenize_rows(texts, tokenizer, threads_for(texts, options));
  std::size_t width = 0;
  for (const TokenRow& row : rows) width = std::max(width, row.ids.size());
  if (options.max_token_len) width = static_cast<std::size_t>(*options.max_token_len);
  tell_lengths(texts, rows, width, tokenizer, options);
  std::vector<InputColumn> columns = columns_of(rows, width, tokenizer);
  auto facts = std::make_shared<TokenFacts>();
  facts->tokenizer = tokenizer.file();
  facts->pads_left = tokenizer.pads_left();
  for (const TokenRow& row : rows)
    facts->lengths.push_back(static_cast<std::int32_t>(row.ids.size()));
  for (InputColumn& column : columns) column.tokens = facts;
  return columns;
}

}  // namespace mase::data
