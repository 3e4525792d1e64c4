// SPDX-License-Identifier: Apache-2.0
// Decoders make a text of tokens.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tokenizer/section.hpp"

namespace mase::tokenizer {

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Changes the texts of tokens so that they are a text when they are joined.
  virtual void apply(std::vector<std::string>& tokens) const = 0;
};

/// Reads the section `decoder`; unknown kinds are errors that name the known ones.
std::unique_ptr<Decoder> read_decoder(const Section& section);

}  // namespace mase::tokenizer
