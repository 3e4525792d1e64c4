// SPDX-License-Identifier: Apache-2.0
// Softmax and sigmoid in double precision.
#include "driver/text_classes.hpp"

#include <algorithm>
#include <cmath>

namespace mase::driver {
namespace {

ClassScore likeliest(const huggingface::TextClasses& classes, std::span<const float> row) {
  const auto best = std::ranges::max_element(row);
  double others = 0;
  for (const float logit : row) others += std::exp(double{logit} - double{*best});
  const double score = classes.exclusive ? 1 / others : 1 / (1 + std::exp(-double{*best}));
  return {classes.names[static_cast<std::size_t>(best - row.begin())], score};
}

}  // namespace

std::optional<std::vector<ClassScore>> class_scores(const huggingface::TextClasses& classes,
                                                    const Array& logits) {
  const std::size_t count = classes.names.size();
  const Shape& shape = logits.shape();
  if (logits.dtype() != DType::float32 || shape.size() != 2 ||
      shape[1] != static_cast<std::int64_t>(count))
    return std::nullopt;
  std::vector<ClassScore> scores;
  const auto values = logits.span<float>();
  for (std::size_t at = 0; at < values.size(); at += count)
    scores.push_back(likeliest(classes, values.subspan(at, count)));
  return scores;
}

}  // namespace mase::driver
