// SPDX-License-Identifier: Apache-2.0
// Which images a data set has: files with a class and, where the source says so, a part.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mase::data {

struct LabelledFile {
  std::string path, label;
  std::optional<Part> part{};
};

/// The images of a CSV file (columns file, label and, if there are fixed parts, part; paths start
/// from its folder), of a folder with such a file, of a folder with a folder for each class, sorted
/// by class and path, or of the same below train, val (or validation) and test. Either all images
/// have a part or none. Error(Fault::file) for other files and folders.
std::vector<LabelledFile> list_images(const std::string& path);

}  // namespace mase::data
