// SPDX-License-Identifier: Apache-2.0
// Nodes of these heads.
#include "huggingface/heads.hpp"

namespace mase::huggingface {

Ref token_labels(Builder& b, const Ref& x, std::int64_t width, double dropout) {
  return b.linear("classifier", b.dropout("dropout", x, dropout), width, b.config().labels());
}

Ref last_token_label(Builder& b, const Ref& ids, const Ref& x, std::int64_t width,
                     std::optional<std::int64_t> usual_padding) {
  const Config& config = b.config();
  if (config.is_none("pad_token_id")) usual_padding.reset();
  if (!config.find("pad_token_id") && !usual_padding)
    config.wrong("pad_token_id",
                 "is missing, so that the last token of a text in a batch is not known; set it to "
                 "the number of the token that fills up shorter texts");
  const std::int64_t padding = config.integer("pad_token_id", usual_padding.value_or(0));
  const Ref scores = b.linear("score", x, width, config.labels(), false);
  const Ref rows = b.size(ids, 0);
  const Ref is_text = b.to_device(b.binary("ne", ids, padding), DType::int32);
  const Ref places = b.arange(b.size(ids, 1), DType::int32);
  const Ref last =
      b.method("argmax", "aten::argmax", {{"self", b.multiply(places, is_text)}, {"dim", -1}});
  return b.item(scores, {b.arange(rows), last});
}

std::vector<Ref> with_pooler(Builder& b, const Ref& x, const std::function<Ref()>& pooler) {
  if (!b.has_tensor("pooler.dense.weight") && !b.has_tensor("pooler.dense.bias")) return {x};
  return {x, pooler()};
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
