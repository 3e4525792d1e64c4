// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json, and what it makes of a few texts.
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"
#include "tokenizer/tokenizer.hpp"

namespace mase::fuzz {
namespace {

constexpr const char* texts[] = {"", "a", "don't  stop\r\n",
                                 "<s>un\xC3\xA9\xCC\x81 \xE6\x9D\xB1 42",
                                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab \xF0\x9F\x98\x80"};

/// A token for each id, and not more texts than ids.
void use(tokenizer::Tokenizer& tokenizer) {
  for (const char* text : texts)
    accepts([&] {
      const tokenizer::Encoding encoding = tokenizer.encode_pair(text, "b a");
      MASE_CHECK(tokenizer.texts_of(encoding).size() == encoding.size() &&
                     encoding.type_ids.size() == encoding.size() &&
                     encoding.attention_mask.size() == encoding.size(),
                 "the arrays of an encoding differ in length");
      tokenizer.decode(encoding.tokens.ids, false);
      MASE_CHECK(tokenizer.encode(text).tokens.ids == tokenizer.encode(text).tokens.ids,
                 "a text has other tokens when it comes again");
    });
}

}  // namespace

void tokenizer(std::string_view bytes) {
  accepts([&] {
    tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::parse(bytes, "tokenizer.json");
    use(tokenizer);
  });
}

}  // namespace mase::fuzz
