// Batch norm in training and 2x2 max pooling over [images, channels, height, width], forward and
// backward, as plain loops over planes.
#pragma once

#include <cstddef>

#include "train/batch_norm.hpp"

namespace mase::train {

/// Sizes of a tensor of contiguous planes.
struct Planes {
  std::size_t images = 0, channels = 0, height = 0, width = 0;
  std::size_t size() const { return height * width; }  ///< of one plane
  std::size_t count() const { return images * channels; }
};

/// As the functions of batch_norm.hpp, each channel over its planes. images * size() >= 2.
void batch_norm_forward(const float* in, const Planes& planes, const float* weight,
                        const float* bias, double epsilon, float* out, BatchStatistics& statistics);
void batch_norm_backward(const float* gradient, const float* in, const Planes& planes,
                         const float* weight, const BatchStatistics& statistics, float* into,
                         float* weight_gradient, float* bias_gradient);

/// The largest of each square of 2 x 2; NaN wins. `planes` are the input's; an odd last row or
/// column is left out.
void max_pool_forward(const float* in, const Planes& planes, float* out);
/// Gives each square's gradient to the first element, in reading order, that is its largest.
void max_pool_backward(const float* gradient, const float* in, const float* out,
                       const Planes& planes, float* into);

}  // namespace mase::train
