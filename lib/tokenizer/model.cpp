// SPDX-License-Identifier: Apache-2.0
// The table of models.
#include "tokenizer/model.hpp"

namespace mase::tokenizer {
namespace {

constexpr Kind<Model> model_kinds[] = {
    {"WordPiece", read_word_piece},
};

}  // namespace

std::unique_ptr<Model> read_model(const Section& section) {
  return read_kind<Model>(model_kinds, section);
}

}  // namespace mase::tokenizer
