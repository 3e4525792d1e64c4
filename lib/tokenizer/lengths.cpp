// SPDX-License-Identifier: Apache-2.0
// Reads and applies truncation and padding.
#include "tokenizer/lengths.hpp"

#include <algorithm>

namespace mase::tokenizer {
namespace {

constexpr std::size_t longest_padding = 1 << 20;

template <class Value>
struct ChoiceRow {
  std::string_view name;
  Value value;
};
constexpr ChoiceRow<Shortens> strategies[] = {{"LongestFirst", Shortens::longest},
                                              {"OnlyFirst", Shortens::first},
                                              {"OnlySecond", Shortens::second}};
constexpr ChoiceRow<bool> directions[] = {{"Left", true}, {"Right", false}};

/// The lengths of a pair whose longer text is cut first.
std::pair<std::size_t, std::size_t> balanced(std::size_t first, std::size_t second,
                                             std::size_t most) {
  const bool swapped = first > second;
  if (swapped) std::swap(first, second);
  second = first > most ? first : std::max(first, most - first);
  if (first + second > most) {
    first = most / 2;
    second = first + most % 2;
  }
  if (swapped) std::swap(first, second);
  return {first, second};
}

}  // namespace

std::optional<Truncation> read_truncation(const Section& file) {
  const auto section = file.find("truncation");
  if (!section) return std::nullopt;
  Truncation truncation;
  truncation.most = section->number("max_length");
  truncation.stride = section->number("stride", 0);
  truncation.shortens = row_named(strategies, *section, "strategy").value;
  if (section->find("direction"))
    truncation.from_left = row_named(directions, *section, "direction").value;
  return truncation;
}

std::optional<Padding> read_padding(const Section& file) {
  const auto section = file.find("padding");
  if (!section) return std::nullopt;
  Padding padding;
  const Section strategy = section->at("strategy");
  if (const auto fixed = strategy.find("Fixed"))
    padding.length = fixed->as_number();
  else if (strategy.as_text() != "BatchLongest")
    strategy.fail(quote(strategy.as_text()) + " is unknown; known are BatchLongest, Fixed");
  padding.multiple = std::max(1u, section->number("pad_to_multiple_of", 1));
  if (padding.length > longest_padding || padding.multiple > longest_padding)
    section->fail("pads to more than " + std::to_string(longest_padding) + " tokens");
  padding.id = section->number("pad_id");
  padding.type_id = section->number("pad_type_id");
  padding.text = section->text("pad_token");
  padding.to_left = row_named(directions, *section, "direction").value;
  return padding;
}

bool Truncation::apply(std::vector<Encoding>& encodings, std::size_t special_tokens) const {
  if (special_tokens > most)
    config_error("truncation to " + std::to_string(most) + " tokens leaves no room for " +
                 counted(special_tokens, "special token"));
  const std::size_t room = most - special_tokens;
  const auto cut = [&](Encoding& encoding, std::size_t length) {
    if (length >= encoding.size()) return;
    if (length > 0 && stride >= length)
      config_error("the stride of truncation, " + std::to_string(stride) +
                   ", must be below the length of a text, " + std::to_string(length));
    encoding.keep(from_left ? encoding.size() - length : 0, length);
  };
  std::size_t total = 0;
  for (const Encoding& encoding : encodings) total += encoding.size();
  if (total <= room) return false;
  if (room == 0)
    for (Encoding& encoding : encodings) cut(encoding, 0);
  if (room == 0) return true;
  if (shortens == Shortens::longest) {
    if (encodings.size() == 1) {
      cut(encodings[0], room);
      return true;
    }
    const auto [first, second] = balanced(encodings[0].size(), encodings[1].size(), room);
    cut(encodings[0], first);
    cut(encodings[1], second);
    return true;
  }
  const std::size_t which = shortens == Shortens::first ? 0 : 1;
  if (which >= encodings.size())
    config_error("truncation shortens the second text only, and there is one; use --pair");
  Encoding& target = encodings[which];
  if (target.size() <= total - room)
    config_error("truncation to " + std::to_string(most) + " tokens would remove all " +
                 std::to_string(target.size()) +
                 " tokens of one text of a pair; shorten the other");
  cut(target, target.size() - (total - room));
  return true;
}

void Padding::apply(Encoding& encoding) const {
  std::size_t wanted = std::max(length, length == 0 ? encoding.size() : 0);
  wanted = (wanted + multiple - 1) / multiple * multiple;
  if (encoding.size() >= wanted) return;
  Encoding more;
  for (std::size_t i = encoding.size(); i < wanted; ++i) more.add(id, type_id, &text);
  more.attention_mask.assign(more.size(), 0);
  if (to_left) {
    more.append(encoding);
    encoding = std::move(more);
  } else {
    encoding.append(more);
  }
}

}  // namespace mase::tokenizer
