// SPDX-License-Identifier: Apache-2.0
// The mnist data set.
#include <cstring>

#include "base/error.hpp"
#include "base/file.hpp"
#include "data/assemble.hpp"
#include "data/idx.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

/// The file `folder/stem-idxN-ubyte`, also with .gz; a dot before idx is common, too.
std::string find_idx(const std::string& folder, const std::string& stem, const std::string& idx) {
  for (const std::string& name : {stem + "-" + idx, stem + "." + idx})
    for (const char* ending : {"", ".gz"})
      if (file_exists(folder + "/" + name + ending)) return folder + "/" + name + ending;
  file_error(folder + ": no file " + stem + "-" + idx + " or " + stem + "-" + idx + ".gz");
}

struct Digits {
  IdxFile images, labels;
  std::string images_path;
  std::int64_t rows() const { return images.shape[0]; }
};

Digits read_digits(const std::string& folder, const std::string& stem) {
  const std::string images = find_idx(folder, stem + "-images", "idx3-ubyte");
  const std::string labels = find_idx(folder, stem + "-labels", "idx1-ubyte");
  Digits digits{read_idx(images, 3), read_idx(labels, 1), images};
  if (digits.images.shape[0] != digits.labels.shape[0])
    file_error(labels + ": " + std::to_string(digits.labels.shape[0]) + " labels for " +
               std::to_string(digits.images.shape[0]) + " images in " + images);
  for (std::size_t row = 0; row < digits.labels.bytes.size(); ++row)
    if (static_cast<unsigned char>(digits.labels.bytes[row]) > 9)
      file_error(labels + ": label " +
                 std::to_string(static_cast<unsigned char>(digits.labels.bytes[row])) + " of row " +
                 std::to_string(row) + " is out of range 0 .. 9");
  return digits;
}

/// Writes pixels and labels from row `first` on.
void store(const Digits& digits, std::int64_t first, Dataset& dataset) {
  std::memcpy(dataset.inputs.front().values.mutable_bytes() +
                  first * digits.images.shape[1] * digits.images.shape[2],
              digits.images.bytes.data(), digits.images.bytes.size());
  std::int64_t* labels = dataset.targets.front().values.mutable_span<std::int64_t>().data() + first;
  for (char byte : digits.labels.bytes) *labels++ = static_cast<unsigned char>(byte);
}

std::vector<std::int64_t> range(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> rows;
  for (std::int64_t row = begin; row < end; ++row) rows.push_back(row);
  return rows;
}

}  // namespace

Dataset load_mnist(const DataOptions& options) {
  require_only(options, "mnist", with_pixel_options({"data_dir"}));
  const std::string folder =
      options.data_dir.empty() ? share_folder() + "/configs/data/mnist" : options.data_dir;
  const Digits train = read_digits(folder, "train");
  const Digits test = read_digits(folder, "t10k");
  const auto height = train.images.shape[1], width = train.images.shape[2];
  if (test.images.shape[1] != height || test.images.shape[2] != width)
    file_error(test.images_path + ": the images have another size than those for training");
  Dataset dataset;
  dataset.name = "mnist";
  const std::int64_t rows = train.rows() + test.rows();
  dataset.inputs = {pixel_column(options, {rows, 1, height, width}, train.images_path)};
  dataset.targets = {class_target({rows}, numbered_classes(10))};
  store(train, 0, dataset);
  store(test, train.rows(), dataset);
  const std::int64_t validation = train.rows() / 12;
  dataset.train = range(0, train.rows() - validation);
  dataset.validation = range(train.rows() - validation, train.rows());
  dataset.test = range(train.rows(), rows);
  finish(dataset, train.images_path);
  return dataset;
}

}  // namespace mase::data
