// SPDX-License-Identifier: Apache-2.0
// Reads a tokenizer once and parses it for every thread.
#include "data/text_tokenizer.hpp"

#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace mase::data {
namespace {

std::string existing_file(const std::string& path) {
  std::string file = tokenizer::tokenizer_file(path);
  if (!file_exists(file))
    file_error(file +
               ": no such file; the setting tokenizer (--tokenizer) names a tokenizer.json " +
               "of Hugging Face, or a folder that has it");
  return file;
}

}  // namespace

TextTokenizer::TextTokenizer(const DataOptions& options)
    : file_(existing_file(options.tokenizer.value())),
      json_(read_file(file_, tokenizer::largest_file)),
      folder_(tokenizer::read_folder_settings(*options.tokenizer)),
      first_(std::make_shared<tokenizer::Tokenizer>(tokenizer::Tokenizer::parse(json_, file_))),
      padding_(first_->padding()),
      longest_(first_->longest() ? first_->longest() : folder_.longest),
      pads_left_(padding_ ? padding_->to_left : folder_.pads_left) {
  const auto& [given, limit] = std::tie(options.max_token_len, options.token_limit);
  if (given && limit && *given > *limit)
    config_error("max_token_len = " + std::to_string(*given) + ": the model has positions for " +
                 counted(static_cast<std::size_t>(*limit), "token"));
  first_->stop_padding();
}

void TextTokenizer::truncate(std::size_t most, bool is_pair) {
  const std::size_t special = first_->special_tokens(is_pair), least = special + (is_pair ? 2 : 1);
  if (most < least)
    config_error("max_token_len = " + std::to_string(most) + " is too small: " + file_ + " adds " +
                 counted(special, "special token") + " to " + (is_pair ? "two texts" : "a text") +
                 "; give at least " + std::to_string(least));
  most_ = most;
  first_->truncate(most);
}

TextTokenizer::Shared TextTokenizer::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(first_is_taken_, true)) return first_;
  }
  auto more = std::make_shared<tokenizer::Tokenizer>(tokenizer::Tokenizer::parse(json_, file_));
  more->stop_padding();
  if (most_) more->truncate(*most_);
  return more;
}

tokenizer::Padding TextTokenizer::padding() const {
  if (padding_) return *padding_;
  tokenizer::Padding padding;
  if (!folder_.pad_token && folder_.pad_id) {
    padding.id = *folder_.pad_id;
    return padding;
  }
  if (!folder_.pad_token) {
    log::info(file_ + " has no padding token, so the tokens behind a text have the id 0; " +
              "attention_mask leaves them out");
    return padding;
  }
  const auto id = first_->find(*folder_.pad_token);
  if (!id)
    file_error(file_ + ": there is no token " + quote(*folder_.pad_token) +
               ", which its folder names as pad_token");
  padding.id = *id;
  return padding;
}

}  // namespace mase::data
