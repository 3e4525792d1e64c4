// SPDX-License-Identifier: Apache-2.0
// The tokenizer of a data set: that of the setting `tokenizer`, for as many threads as there are.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "data/dataset.hpp"
#include "tokenizer/folder_settings.hpp"
#include "tokenizer/tokenizer.hpp"

namespace mase::data {

class TextTokenizer {
 public:
  using Shared = std::shared_ptr<tokenizer::Tokenizer>;

  /// Reads tokenizer.json, the file or the one in the folder that `options.tokenizer` names.
  /// Error(Fault::file) for what cannot be read, Error(Fault::config) for a max_token_len beyond
  /// the positions of the model.
  explicit TextTokenizer(const DataOptions& options);

  const std::string& file() const { return file_; }
  /// Rows have at most so many tokens. Error(Fault::config) if none is left for a text, or for each
  /// text of a pair.
  void truncate(std::size_t most, bool is_pair);
  /// A tokenizer for one more thread. It pads nothing. May be called from several threads.
  Shared take();

  /// What stands beside texts in a row; the id is 0, with a line of information, if nobody says
  /// which it is.
  tokenizer::Padding padding() const;
  bool pads_left() const { return pads_left_; }
  /// The length that tokenizer.json truncates to, or else model_max_length of its folder.
  std::optional<std::size_t> longest() const { return longest_; }

 private:
  std::string file_, json_;
  tokenizer::FolderSettings folder_;
  Shared first_;
  std::optional<tokenizer::Padding> padding_;  ///< that of tokenizer.json
  std::optional<std::size_t> longest_, most_;
  bool pads_left_;
  std::mutex mutex_;
  bool first_is_taken_ = false;
};

}  // namespace mase::data
