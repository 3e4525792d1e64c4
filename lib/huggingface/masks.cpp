// SPDX-License-Identifier: Apache-2.0
// Builds masks with the nodes of a trace.
#include "huggingface/masks.hpp"

#include <limits>

namespace mase::huggingface {
namespace {

/// Numbers of tokens that see and of tokens that are seen, each along a dimension.
struct Places {
  Ref query, key;
};

/// Both conditions, as a trace joins them.
Ref also(Builder& b, const Ref& first, const Ref& second) {
  return b.binary("and_", first, b.to_layout(second, DType::boolean));
}

/// `seen` says of places which pairs of tokens may see each other.
template <class Seen>
Ref make_mask(Builder& b, const Ref& x, const Ref& attention_mask, Seen seen) {
  const bool padded = !attention_mask.is_none();
  const Ref given = padded ? b.to_device(attention_mask, DType::boolean) : x;
  const Ref queries = b.size(x, 1), keys = b.size(given, 1), rows = b.size(x, 0);
  Ref row_numbers;
  if (padded) row_numbers = b.arange(rows);
  const Ref query_numbers = b.add(b.arange(queries), 0);
  const Ref key_numbers = b.add(b.arange(keys), 0);
  if (padded) row_numbers = b.item(row_numbers, {all(), Ref(), Ref(), Ref()});
  Places places;
  const Ref query = b.unsqueeze(b.unsqueeze(query_numbers, 0), 1);
  places.query = b.item(query, {all(), all(), all(), Ref()});
  const Ref key = b.unsqueeze(b.unsqueeze(b.unsqueeze(key_numbers, 0), 1), 2);
  places.key = b.item(key, {all(), all(), all(), all()});
  Ref both = seen(places);
  if (padded) both = also(b, both, b.item(given, {row_numbers, places.key}));
  const Ref whole = b.expand(both, {rows, -1, queries, keys});
  const Ref zero = b.literal(Array(DType::float32, Shape{}));
  const double least = std::numeric_limits<float>::lowest();
  return b.function("torch.where", "aten::where.ScalarOther",
                    {{"condition", whole}, {"self", zero}, {"other", least}});
}

Ref ones(Builder& b, const Ref& like) {
  return b.method("new_ones", "aten::new_ones",
                  {{"self", like}, {"size", Ref::list({})}, {"dtype", 11}, {"pin_memory", false}});
}

}  // namespace

Ref full_mask(Builder& b, const Ref& x, const Ref& attention_mask) {
  if (attention_mask.is_none()) return {};
  return make_mask(b, x, attention_mask, [&](const Places& places) {
    const Ref start = ones(b, places.query);
    return also(b, start, b.binary("ge", places.query, 0));
  });
}

Ref causal_mask(Builder& b, const Ref& x, const Ref& attention_mask,
                std::optional<std::int64_t> window) {
  return make_mask(b, x, attention_mask, [&](const Places& places) {
    const Ref start = ones(b, places.query);
    const auto before = [&] { return b.binary("le", places.key, places.query); };
    if (!window) return also(b, start, before());
    const Ref inner = ones(b, places.query);
    const Ref first = b.binary("sub", places.query, *window);
    const Ref near = also(b, inner, b.binary("gt", places.key, first));
    return also(b, start, also(b, near, before()));
  });
}

}  // namespace mase::huggingface
