// SPDX-License-Identifier: Apache-2.0
// The table of models.
#include "tokenizer/model.hpp"

namespace mase::tokenizer {
namespace {

constexpr Kind<Model> model_kinds[] = {
    {"BPE", read_bpe},
    {"Unigram", read_unigram},
    {"WordLevel", read_word_level},
    {"WordPiece", read_word_piece},
};

/// Old files do not name the kind of their model.
std::unique_ptr<Model> read_nameless_model(const Section& section) {
  if (section.find("merges")) return read_bpe(section);
  if (section.find("continuing_subword_prefix")) return read_word_piece(section);
  return section.at("vocab").tree().is_list() ? read_unigram(section) : read_word_level(section);
}

}  // namespace

std::unique_ptr<Model> read_model(const Section& section) {
  if (!section.find("type")) return read_nameless_model(section);
  return read_kind<Model>(model_kinds, section);
}

}  // namespace mase::tokenizer
