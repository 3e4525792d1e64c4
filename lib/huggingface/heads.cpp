// SPDX-License-Identifier: Apache-2.0
// Nodes of these heads.
#include "huggingface/heads.hpp"

namespace mase::huggingface {

Ref token_labels(Builder& b, const Ref& x, std::int64_t width, double dropout) {
  return b.linear("classifier", b.dropout("dropout", x, dropout), width, b.config().labels());
}

std::vector<Ref> answer_places(Builder& b, const Ref& x, std::int64_t width) {
  constexpr std::int64_t places = 2;
  if (b.config().labels() != places)
    b.config().wrong("id2label", "has not the two labels of a place");
  const Ref both = b.linear("qa_outputs", x, width, places);
  const Ref parts = b.function("torch.functional.split", "aten::split.Tensor",
                               {{"self", both}, {"split_size", 1}, {"dim", -1}});
  const Ref begin = b.part(parts, 0), end = b.part(parts, 1);
  const auto flat = [&](const Ref& part) {
    return b.contiguous(b.method("squeeze", "aten::squeeze.dim", {{"self", part}, {"dim", -1}}));
  };
  const Ref first = flat(begin);
  return {first, flat(end)};
}

}  // namespace mase::huggingface
