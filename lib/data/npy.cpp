// SPDX-License-Identifier: Apache-2.0
// The npy data set: a pair of array files, and the reading of labels in their usual forms.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "data/assemble.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

constexpr std::int64_t most_classes = 10000;

/// Row r of one-hot labels → its class.
Array from_one_hot(const Array& array, const std::string& path) {
  const Array values = array.to_float32();
  const auto rows = static_cast<std::size_t>(array.shape()[0]);
  const auto classes = static_cast<std::size_t>(array.shape()[1]);
  Array labels(DType::int64, {array.shape()[0]});
  auto out = labels.mutable_span<std::int64_t>();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto line = values.span<float>().subspan(row * classes, classes);
    if (std::count(line.begin(), line.end(), 1.0f) != 1 ||
        std::count(line.begin(), line.end(), 0.0f) != static_cast<std::ptrdiff_t>(classes) - 1)
      file_error(path + ": row " + std::to_string(row) + " is not one-hot (one 1, else 0)");
    out[row] = std::find(line.begin(), line.end(), 1.0f) - line.begin();
  }
  return labels;
}

/// Whole numbers of any dtype as int64.
Array from_numbers(const Array& array, const std::string& path) {
  if (array.dtype() == DType::int64) return array.reshaped({array.size()});
  const Array values = array.to_float32();
  Array labels(DType::int64, {array.size()});
  auto out = labels.mutable_span<std::int64_t>();
  for (std::size_t row = 0; row < out.size(); ++row) {
    const float value = values.span<float>()[row];
    if (!(std::fabs(value) < 1e6f) || value != std::floor(value))
      file_error(path + ": row " + std::to_string(row) + " is no class index (a whole number)");
    out[row] = static_cast<std::int64_t>(value);
  }
  return labels;
}

Array read_labels(const std::string& path) {
  const Array array = read_npy(path);
  const Shape& shape = array.shape();
  if (shape.size() == 1) return from_numbers(array, path);
  if (shape.size() == 2 && shape[1] == 1) return from_numbers(array, path);
  if (shape.size() == 2 && shape[1] > 1) return from_one_hot(array, path);
  file_error(path + ": labels have shape " + shape_text(shape) +
             "; use [rows] class indices or [rows, classes] one-hot");
}

/// Rejects negative and absurd labels; returns the number of classes.
std::int64_t count_classes(const Array& labels, std::int64_t classes, const std::string& path) {
  const auto values = labels.span<std::int64_t>();
  const std::int64_t limit = classes > 0 ? classes : most_classes;
  for (std::size_t row = 0; row < values.size(); ++row)
    if (values[row] < 0 || values[row] >= limit)
      file_error(path + ": label " + std::to_string(values[row]) + " of row " +
                 std::to_string(row) + " is out of range 0 .. " + std::to_string(limit - 1));
  return classes > 0 ? classes : *std::max_element(values.begin(), values.end()) + 1;
}

}  // namespace

Dataset read_npy_pair(const std::string& name, const std::string& x, const std::string& y,
                      std::int64_t classes) {
  Dataset dataset;
  dataset.name = name;
  const Array inputs = read_npy(x);
  if (inputs.shape().size() < 2 || inputs.size() == 0)
    file_error(x + ": features have shape " + shape_text(inputs.shape()) +
               "; at least one row of features, [rows, ...], is needed");
  dataset.inputs = inputs.to_float32();
  dataset.labels = read_labels(y);
  if (dataset.labels.size() != inputs.shape()[0])
    file_error(y + ": " + std::to_string(dataset.labels.size()) + " labels for " +
               std::to_string(inputs.shape()[0]) + " rows in " + x);
  const std::int64_t count = count_classes(dataset.labels, classes, y);
  for (std::int64_t i = 0; i < count; ++i) dataset.class_names.push_back(std::to_string(i));
  check_finite(dataset, x);
  return dataset;
}

Dataset load_npy(const DataOptions& options) {
  if (options.data_dir.empty())
    config_error("data set npy needs data_dir (--data-dir): a folder with x.npy and y.npy");
  const std::string folder = options.data_dir + "/";
  for (const char* file : {"x.npy", "y.npy"})
    if (!file_exists(folder + file))
      file_error(folder + file + ": no such file; the npy data set is the pair x.npy, y.npy");
  Dataset dataset = read_npy_pair("npy", folder + "x.npy", folder + "y.npy", 0);
  split_randomly(dataset, options);
  finish(dataset, folder + "x.npy");
  return dataset;
}

}  // namespace mase::data
