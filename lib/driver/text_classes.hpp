// SPDX-License-Identifier: Apache-2.0
// Classes of texts, as the pipeline "text-classification" of transformers gives them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "huggingface/import.hpp"

namespace mase::driver {

/// A class and how sure the model is of it, from 0 to 1.
struct ClassScore {
  std::string name;
  double score;
};

/// The likeliest class of each row of `logits`, float32[rows, classes]: the score is its softmax,
/// or its sigmoid where classes do not exclude each other. nullopt for an array of another shape.
std::optional<std::vector<ClassScore>> class_scores(const huggingface::TextClasses& classes,
                                                    const Array& logits);

}  // namespace mase::driver
