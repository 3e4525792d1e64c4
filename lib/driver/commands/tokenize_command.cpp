// SPDX-License-Identifier: Apache-2.0
// `mase tokenize` makes ids of texts with a tokenizer.json, or texts of ids.
#include <chrono>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "driver/commands/commands.hpp"
#include "driver/output.hpp"
#include "tokenizer/tokenizer.hpp"

namespace mase::driver {
namespace {

using tokenizer::Encoding;
using tokenizer::TokenId;
using tokenizer::Tokenizer;

/// A text, or a pair of them.
struct TokenizerInput {
  std::string_view first;
  std::optional<std::string_view> second;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

void add_arguments(const TokenizeRequest& request, std::vector<TokenizerInput>& inputs) {
  const auto& texts = request.texts;
  if (request.pair && texts.size() % 2 != 0)
    config_error("--pair takes texts two by two, and there are " + std::to_string(texts.size()));
  for (std::size_t i = 0; i < texts.size(); i += request.pair ? 2 : 1)
    inputs.push_back({texts[i], request.pair ? std::optional(texts[i + 1]) : std::nullopt});
}

void add_lines(const TokenizeRequest& request, std::string_view text,
               std::vector<TokenizerInput>& inputs) {
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (!request.pair) {
      inputs.push_back({line, std::nullopt});
      continue;
    }
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos)
      file_error(*request.file + ":" + std::to_string(number) +
                 ": --pair needs two texts on each line, with a tab between them");
    inputs.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
}

Encoding encode(Tokenizer& tokenizer, const TokenizerInput& input, bool special) {
  return input.second ? tokenizer.encode_pair(input.first, *input.second, special)
                      : tokenizer.encode(input.first, special);
}

std::string ids_text(const Encoding& encoding) {
  std::string text;
  for (const TokenId id : encoding.tokens.ids)
    text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

Tree document_of(const Tokenizer& tokenizer, const Encoding& encoding) {
  Tree mask = Tree::list();
  for (const std::uint8_t value : encoding.attention_mask) mask.push_back(static_cast<int>(value));
  const auto numbers = [](const std::vector<std::uint32_t>& values) {
    Tree list = Tree::list();
    for (const std::uint32_t value : values) list.push_back(static_cast<std::int64_t>(value));
    return list;
  };
  Tree entry = Tree::dict();
  entry["ids"] = numbers(encoding.tokens.ids);
  entry["tokens"] = Tree::list_of(tokenizer.texts_of(encoding));
  entry["type_ids"] = numbers(encoding.type_ids);
  entry["attention_mask"] = std::move(mask);
  return entry;
}

std::vector<TokenId> ids_of(std::string_view text) {
  std::vector<TokenId> ids;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    const auto id = parse_int(word);
    if (!id || *id < 0 || *id > INT32_MAX)
      config_error("--decode takes ids, separated by spaces; " + quote(word) + " is not an id");
    ids.push_back(static_cast<TokenId>(*id));
  }
  return ids;
}

/// Encodes or decodes all, and returns the number of tokens.
std::size_t tokenize_all(const TokenizeRequest& request, Tokenizer& tokenizer,
                         const std::vector<TokenizerInput>& inputs, Output& out) {
  std::size_t tokens = 0;
  Tree results = Tree::list();
  for (const TokenizerInput& input : inputs) {
    if (request.decode) {
      const std::vector<TokenId> ids = ids_of(input.first);
      const std::string text = tokenizer.decode(ids, request.special);
      tokens += ids.size();
      if (request.json && !request.time)
        results.push_back(text);
      else if (!request.time)
        out.text(text);
    } else {
      const Encoding encoding = encode(tokenizer, input, request.special);
      tokens += encoding.size();
      if (request.json && !request.time)
        results.push_back(document_of(tokenizer, encoding));
      else if (!request.time)
        out.text(ids_text(encoding));
    }
  }
  if (!request.time) out.document()[request.decode ? "texts" : "encodings"] = std::move(results);
  return tokens;
}

}  // namespace

int tokenize(const TokenizeRequest& request) {
  if (request.decode && request.pair) config_error("--decode and --pair exclude each other");
  if (request.texts.empty() && !request.file)
    config_error("there is no text: give texts, or a file with one on each line by --file");
  Tokenizer tokenizer = Tokenizer::read(tokenizer::tokenizer_file(request.tokenizer));
  const std::string file = request.file ? read_file(*request.file) : "";
  std::vector<TokenizerInput> inputs;
  add_arguments(request, inputs);
  add_lines(request, file, inputs);
  Output out(request.json);
  const auto start = std::chrono::steady_clock::now();
  const std::size_t tokens = tokenize_all(request, tokenizer, inputs, out);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (request.time) {
    out.text(counted(inputs.size(), "text") + ", " + counted(tokens, "token") + " in " +
             fixed_text(seconds.count(), 3) + " s");
    out.document()["texts"] = inputs.size();
    out.document()["tokens"] = tokens;
    out.document()["seconds"] = seconds.count();
  }
  out.finish();
  return 0;
}

}  // namespace mase::driver
