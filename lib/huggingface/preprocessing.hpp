// SPDX-License-Identifier: Apache-2.0
// What a folder says of the rows of its model: how images are prepared, and what classes there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mase::huggingface {

/// Rows and columns of an image.
struct Sides {
  std::int64_t height = 0;
  std::int64_t width = 0;  ///< 0 of a resized image: `height` is that of the shorter side
};

/// The settings of preprocessor_config.json.
struct Preprocessing {
  std::string path;                     ///< of the file
  std::optional<Sides> size;            ///< to which images are resized
  std::optional<Sides> middle;          ///< which is kept of them
  bool bicubic = false;                 ///< otherwise bilinear
  double scale = 1;                     ///< pixels of 0 to 255 are multiplied by it
  std::vector<double> mean, deviation;  ///< then subtracted and divided by; empty, or by channel
  std::vector<std::string> notes;       ///< what the file asks for and this cannot say
};

/// nullopt for a folder without the file. Error(Fault::file) names file and key of a wrong value.
std::optional<Preprocessing> preprocessing_of(const std::string& folder);

/// The names of the classes by the outputs of the model (`id2label` of config.json); empty if they
/// have none of their own.
std::vector<std::string> class_names_of(const std::string& folder);

/// The number of classes that config.json gives the model, with or without names of their own.
std::int64_t class_count_of(const std::string& folder);

}  // namespace mase::huggingface
