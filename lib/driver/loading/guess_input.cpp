// SPDX-License-Identifier: Apache-2.0
// The number of features follows from the weights; image sizes come from a list of common ones.
#include "driver/loading/guess_input.hpp"

#include <algorithm>

namespace mase::driver {
namespace {

constexpr std::int64_t image_sizes[] = {32, 28, 224, 64, 128, 16};
constexpr std::int64_t sequence_length = 16;
constexpr std::int64_t rows = 2;  // batch norms in training mode reject a single row

/// The weight of a grouped convolution has only the channels of one group; a depthwise convolution
/// has as many outputs as inputs.
void add_images(const Shape& weight, std::vector<Shape>& out) {
  const std::int64_t channels = weight[1];
  const std::int64_t choices[] = {channels, weight[0]};
  for (std::int64_t c : choices)
    for (std::int64_t size : image_sizes) out.push_back({rows, c, size, size});
}

void add_rows(std::int64_t features, std::vector<Shape>& out) {
  out.push_back({rows, features});
  out.push_back({rows, sequence_length, features});
}

}  // namespace

std::vector<Shape> candidate_inputs(const backend::Signature& signature) {
  std::vector<Shape> out;
  if (signature.inputs.size() != 1) return out;
  const auto with_rank = [&](std::size_t rank) {
    return std::find_if(signature.parameters.begin(), signature.parameters.end(),
                        [rank](const Shape& shape) { return shape.size() == rank; });
  };
  const auto end = signature.parameters.end();
  if (const auto convolution = with_rank(4); convolution != end) add_images(*convolution, out);
  const auto linear = with_rank(2), vector = with_rank(1);
  if (vector != end && (linear == end || vector < linear)) add_rows(vector->front(), out);
  if (linear != end) {
    add_rows(linear->back(), out);
    for (std::int64_t size : image_sizes)
      if (linear->back() % (size * size) == 0)
        out.push_back({rows, linear->back() / (size * size), size, size});
  }
  return out;
}

}  // namespace mase::driver
