// SPDX-License-Identifier: Apache-2.0
// Texts of a file, and what they become: columns of tokens.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mase::data {

/// The texts of a file, one for each row, or two.
struct Texts {
  std::string path;
  std::vector<std::string> texts, pairs;              ///< `pairs` is empty without second texts
  std::vector<std::string> classes;                   ///< empty without classes
  std::function<std::string(std::size_t row)> place;  ///< where a row stands in the file
};

/// The ids of the tokenizer that the options name: x, attention_mask and token_type_ids, int64
/// [rows, tokens]. Rows have max_token_len tokens or, if it is not given, as many as the longest
/// text has, at most what tokenizer and model allow. Error(Fault::file) names the place of a text
/// that is not UTF-8 or has no token.
std::vector<InputColumn> tokenized_columns(const Texts& texts, const DataOptions& options);

/// A long text as ids, without special tokens, and the texts of all ids that there are.
struct TokenStream {
  std::vector<std::uint32_t> ids;
  std::vector<std::string> class_names;
  std::shared_ptr<const TokenFacts> facts;
};
TokenStream tokenize_stream(const std::string& path, std::string text, const DataOptions& options);

}  // namespace mase::data
