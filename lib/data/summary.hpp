// SPDX-License-Identifier: Apache-2.0
// What is in a data set: ranges of its values, rows of its classes, and samples as a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/image_file.hpp"

namespace mase::data {

/// Taken over all values, in double; the deviation is that of the population.
struct Range {
  double least = 0, greatest = 0, mean = 0, deviation = 0;
};

/// The range of an array that has values.
Range range_of(const Array& values);
Range range_of(const InputColumn& column);

/// The number of labels of every class in these rows; a row may have one for every position.
std::vector<std::int64_t> count_classes(const Target& target,
                                        const std::vector<std::int64_t>& rows);

/// The first input that is images, [rows, 1 or 3, height, width]. Error(Fault::config) names the
/// shapes that there are, and how to get there.
const InputColumn& image_input(const Dataset& dataset);

/// Up to so many rows of training in which every class comes once before one comes twice; the first
/// rows where there are no classes.
std::vector<std::int64_t> sample_rows(const Dataset& dataset, std::size_t count);

/// Rows of an image input side by side, four in a line. Small images are shown larger, large ones
/// by fewer pixels. Values from 0 to 1, of bytes from 0 to 255, become black to white; if there are
/// others, the least and the greatest of these rows do.
struct SamplePicture {
  Image image;
  double black = 0, white = 1;  ///< the values that are shown so
};
SamplePicture picture_of(const InputColumn& images, const std::vector<std::int64_t>& rows);

}  // namespace mase::data
