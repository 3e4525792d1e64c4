// SPDX-License-Identifier: Apache-2.0
// The table of post-processors. Each is a template: texts and special tokens in order.
#include "tokenizer/post_processor.hpp"

#include <map>
#include <optional>

namespace mase::tokenizer {
namespace {

struct SpecialToken {
  TokenId id;
  std::string text;
};

/// A place in a template: a text by its number, or special tokens, and the type of its tokens.
struct Place {
  std::optional<std::size_t> text;
  std::vector<SpecialToken> tokens;
  std::uint32_t type_id = 0;
};
using Places = std::vector<Place>;

std::size_t count_special(const Places& places) {
  std::size_t count = 0;
  for (const Place& place : places) count += place.tokens.size();
  return count;
}

class Template : public PostProcessor {
 public:
  Template(Places single, Places pair) : single_(std::move(single)), pair_(std::move(pair)) {}

  std::size_t added(bool is_pair) const override {
    return count_special(is_pair ? pair_ : single_);
  }

  void apply(std::vector<Encoding>& encodings, bool add_special) const override {
    std::vector<Encoding> result;
    for (const Place& place : encodings.size() > 1 ? pair_ : single_) {
      if (!place.text && !add_special) continue;
      Encoding part;
      if (place.text) {
        part = encodings[*place.text];
        part.type_ids.assign(part.size(), place.type_id);
      }
      for (const SpecialToken& token : place.tokens) part.add(token.id, place.type_id, &token.text);
      result.push_back(std::move(part));
    }
    encodings = std::move(result);
  }

 private:
  Places single_, pair_;
};

SpecialToken read_special(const Section& section) {
  const Tree::List& items = section.as_list();
  if (items.size() != 2 || !items[0].is_string()) section.fail("must be [text, id]");
  return {Section(items[1], section.where() + "[1]").as_number(), items[0].as_string()};
}

Place text_place(std::size_t text, std::uint32_t type_id) { return {text, {}, type_id}; }
Place special_place(SpecialToken token, std::uint32_t type_id) {
  return {std::nullopt, {std::move(token)}, type_id};
}

std::unique_ptr<PostProcessor> read_bert(const Section& section) {
  const SpecialToken cls = read_special(section.at("cls")), sep = read_special(section.at("sep"));
  Places single{special_place(cls, 0), text_place(0, 0), special_place(sep, 0)};
  Places pair = single;
  pair.push_back(text_place(1, 1));
  pair.push_back(special_place(sep, 1));
  return std::make_unique<Template>(std::move(single), std::move(pair));
}

std::unique_ptr<PostProcessor> read_roberta(const Section& section) {
  const SpecialToken cls = read_special(section.at("cls")), sep = read_special(section.at("sep"));
  Places single{special_place(cls, 0), text_place(0, 0), special_place(sep, 0)};
  Places pair = single;
  for (const Place& place : {special_place(sep, 0), text_place(1, 0), special_place(sep, 0)})
    pair.push_back(place);
  return std::make_unique<Template>(std::move(single), std::move(pair));
}

using SpecialTokens = std::map<std::string, std::vector<SpecialToken>>;

SpecialTokens read_special_tokens(const Section& section) {
  SpecialTokens tokens;
  for (const auto& [name, value] : section.as_dict()) {
    const Section entry(value, section.where() + "." + name);
    const std::vector<Section> ids = entry.items("ids"), texts = entry.items("tokens");
    if (ids.size() != texts.size()) entry.fail("ids and tokens must be of the same length");
    for (std::size_t i = 0; i < ids.size(); ++i)
      tokens[name].push_back({ids[i].as_number(), texts[i].as_text()});
  }
  return tokens;
}

Place read_place(const Section& item, const SpecialTokens& tokens, std::size_t texts) {
  if (const auto sequence = item.find("Sequence")) {
    const std::string id = sequence->text("id");
    const std::size_t text = id == "A" ? 0 : id == "B" ? 1 : SIZE_MAX;
    if (text >= texts)
      sequence->fail("the id " + quote(id) + " names another text than this template has");
    return text_place(text, sequence->number("type_id"));
  }
  const Section special = item.at("SpecialToken");
  const auto found = tokens.find(special.text("id"));
  if (found == tokens.end()) special.fail(quote(special.text("id")) + " is not in special_tokens");
  return {std::nullopt, found->second, special.number("type_id")};
}

std::unique_ptr<PostProcessor> read_template(const Section& section) {
  const SpecialTokens tokens = read_special_tokens(section.at("special_tokens"));
  Places single, pair;
  for (const Section& item : section.items("single")) single.push_back(read_place(item, tokens, 1));
  for (const Section& item : section.items("pair")) pair.push_back(read_place(item, tokens, 2));
  return std::make_unique<Template>(std::move(single), std::move(pair));
}

/// ByteLevel changes where tokens stand in a text, which nobody asks for here.
class KeepTokens : public PostProcessor {
 public:
  std::size_t added(bool) const override { return 0; }
  void apply(std::vector<Encoding>&, bool) const override {}
};

class PostProcessorSequence : public PostProcessor {
 public:
  explicit PostProcessorSequence(const Section& section) {
    std::size_t templates = 0;
    for (const Section& item : section.items("processors")) {
      parts_.push_back(read_post_processor(item));
      if (dynamic_cast<const KeepTokens*>(parts_.back().get()) == nullptr && ++templates > 1)
        item.fail("is the second one that adds tokens; a sequence may have one");
    }
  }
  std::size_t added(bool is_pair) const override {
    std::size_t count = 0;
    for (const auto& part : parts_) count += part->added(is_pair);
    return count;
  }
  void apply(std::vector<Encoding>& encodings, bool add_special) const override {
    for (const auto& part : parts_) part->apply(encodings, add_special);
  }

 private:
  std::vector<std::unique_ptr<PostProcessor>> parts_;
};

constexpr Kind<PostProcessor> post_processor_kinds[] = {
    {"BertProcessing", read_bert},
    {"ByteLevel",
     [](const Section&) -> std::unique_ptr<PostProcessor> {
       return std::make_unique<KeepTokens>();
     }},
    {"RobertaProcessing", read_roberta},
    {"Sequence",
     [](const Section& section) -> std::unique_ptr<PostProcessor> {
       return std::make_unique<PostProcessorSequence>(section);
     }},
    {"TemplateProcessing", read_template},
};

}  // namespace

std::unique_ptr<PostProcessor> read_post_processor(const Section& section) {
  return read_kind<PostProcessor>(post_processor_kinds, section);
}

}  // namespace mase::tokenizer
