// SPDX-License-Identifier: Apache-2.0
// Normalizers change a text before it is split into words.
#pragma once

#include <memory>
#include <string>

#include "tokenizer/section.hpp"

namespace mase::tokenizer {

/// A text on its way through normalizers.
struct Normalized {
  std::string text;
  std::string spare;        ///< memory for a result that takes the text's place
  bool keeps_start = true;  ///< no character has gone from the front
};

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(Normalized& text) const = 0;
};

/// Reads the section `normalizer`; unknown kinds are errors that name the known ones.
std::unique_ptr<Normalizer> read_normalizer(const Section& section);

// The kinds that have files of their own.
std::unique_ptr<Normalizer> read_bert_normalizer(const Section& section);

}  // namespace mase::tokenizer
