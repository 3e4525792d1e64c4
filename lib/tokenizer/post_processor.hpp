// SPDX-License-Identifier: Apache-2.0
// Post-processors put special tokens around the tokens of texts, and number the texts.
#pragma once

#include <memory>
#include <vector>

#include "tokenizer/encoding.hpp"
#include "tokenizer/section.hpp"

namespace mase::tokenizer {

class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  /// The number of special tokens that are added to one text, or to a pair.
  virtual std::size_t added(bool is_pair) const = 0;
  /// Changes the one or two encodings; they are joined afterwards.
  virtual void apply(std::vector<Encoding>& encodings, bool add_special) const = 0;
};

/// Reads the section `post_processor`; unknown kinds are errors that name the known ones.
std::unique_ptr<PostProcessor> read_post_processor(const Section& section);

}  // namespace mase::tokenizer
