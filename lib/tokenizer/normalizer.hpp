// SPDX-License-Identifier: Apache-2.0
// Normalizers change a text before it is split into words.
#pragma once

#include <memory>
#include <string>

#include "tokenizer/section.hpp"

namespace mase::tokenizer {

/// Texts that a file makes longer than this are Error(Fault::config).
inline constexpr std::size_t largest_text = std::size_t{256} << 20;
inline void check_size(const std::string& text) {
  if (text.size() > largest_text)
    config_error("a tokenizer makes a text longer than " + std::to_string(largest_text) +
                 " bytes; split the text, or see what its normalizers insert");
}

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
std::unique_ptr<Normalizer> read_precompiled(const Section& section);

}  // namespace mase::tokenizer
