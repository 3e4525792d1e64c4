// SPDX-License-Identifier: Apache-2.0
// Reads patterns, and replaces what they find.
#include "tokenizer/pattern.hpp"

#include "tokenizer/normalizer.hpp"

namespace mase::tokenizer {

Pattern::Pattern(const Section& section) {
  if (const auto plain = section.find("String")) {
    plain_ = plain->as_text();
    if (plain_.empty()) plain->fail("must not be empty");
  } else {
    const Section regex = section.at("Regex");
    regex_ = std::make_unique<Regex>(regex.as_text(), regex);
  }
}

void Replacement::apply(std::string& text, std::string& spare) const {
  thread_local RegexMemory memory;
  spare.clear();
  std::size_t done = 0;
  pattern_.find_all(text, memory, [&](std::size_t begin, std::size_t end) {
    spare.append(text, done, begin - done);
    spare += content_;
    check_size(spare);
    done = end;
  });
  if (done == 0 && spare.empty()) return;
  spare.append(text, done);
  text.swap(spare);
}

}  // namespace mase::tokenizer
