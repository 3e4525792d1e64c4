// SPDX-License-Identifier: Apache-2.0
// The npy data set: reads array files or an archive of arrays, and labels in their usual
// forms.
#include "base/npy.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <tuple>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"
#include "data/named_arrays.hpp"
#include "data/pieces.hpp"
#include "data/sources.hpp"
#include "data/summary.hpp"

namespace mase::data {
namespace {

constexpr std::int64_t most_classes = 10000;

/// The classes of one-hot labels.
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
      file_error(path + ": row " + std::to_string(row) +
                 " is not one-hot (a single 1, otherwise 0)");
    out[row] = std::find(line.begin(), line.end(), 1.0f) - line.begin();
  }
  return labels;
}

/// Converts whole numbers of any dtype to int64.
Array from_numbers(const Array& array, const std::string& path) {
  if (array.dtype() == DType::int64) return array.reshaped({array.size()});
  const Array values = array.to_float32();
  Array labels(DType::int64, {array.size()});
  auto out = labels.mutable_span<std::int64_t>();
  for (std::size_t row = 0; row < out.size(); ++row) {
    const float value = values.span<float>()[row];
    if (!(std::fabs(value) < 1e6f) || value != std::floor(value))
      file_error(path + ": row " + std::to_string(row) + " is not a class index (a whole number)");
    out[row] = static_cast<std::int64_t>(value);
  }
  return labels;
}

Array labels_of(const Array& array, const std::string& path) {
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

/// Warns of labels that count from 1, which leave class 0 without rows.
void warn_of_labels_from_one(const Array& labels, const std::string& path) {
  const auto values = labels.span<std::int64_t>();
  const auto [least, greatest] = std::ranges::minmax(values);
  if (least != 1 || greatest == 1) return;
  const std::string classes = std::to_string(greatest);
  log::warning(path + ": labels are 1 .. " + classes + ", and no row has class 0; if these are " +
               classes + " classes, store them as 0 .. " + std::to_string(greatest - 1) +
               ": numpy.save(\"y.npy\", y - 1)");
}

bool is_integer(const Array& array) {
  return array.dtype() == DType::int64 || array.dtype() == DType::int32;
}

/// Whether the array has bytes, and not all of them are flags, 0 or 1.
bool has_pixels(const Array& array) {
  if (array.dtype() != DType::uint8) return false;
  bool found = false;
  for_each_piece(array, [&](std::size_t first, std::size_t count) {
    found = found || std::ranges::any_of(array.span<std::uint8_t>().subspan(first, count),
                                         [](std::uint8_t byte) { return byte > 1; });
  });
  return found;
}

/// Warns of bytes, such as pixels, which are fed as the numbers that they are.
void warn_of_bytes(const NamedArray& source) {
  const Range range = range_of(source.array);
  log::warning(source.path + ": the values are uint8 and are fed as " + fixed_text(range.least, 0) +
               " .. " + fixed_text(range.greatest, 0) +
               "; if they are pixels and the model was trained on 0 .. 1, set pixel_scale = " +
               double_text(1.0 / 255.0) + " (--pixel-scale), or pixel_mean and pixel_std");
}

/// Refuses options of pixels when no array has any.
void require_pixels(const std::string& name, const std::vector<NamedArray>& sources,
                    const DataOptions& options) {
  const std::string given = given_pixel_options(options);
  if (given.empty() || std::ranges::any_of(sources, has_pixels, &NamedArray::array)) return;
  std::vector<std::string> found;
  for (const NamedArray& source : sources)
    found.push_back(source.path + " is " + std::string(dtype_name(source.array.dtype())));
  config_error("data set " + name + ": " + given + ": only uint8 pixels are changed by this, and " +
               join(found, ", ") + "; leave it out, or store pixels as numpy.uint8");
}

/// The values as float32. Those of a file that has float32 stay there.
Array numbers_of(const NamedArray& source) {
  try {
    return source.array.to_float32();
  } catch (const Error& error) {
    file_error(source.path + ": " + error.what() + ", which its " +
               std::string(dtype_name(source.array.dtype())) +
               " values become; stored as float32, they can stay in their file");
  }
}

/// Keeps token ids and masks as the integers that an embedding takes, and bytes as bytes; all else
/// becomes float32. `other` is the file that says how many rows there are.
InputColumn column_of(const NamedArray& source, const std::string& other, std::int64_t rows,
                      const DataOptions& options) {
  const Array& array = source.array;
  if (array.shape().size() < (is_integer(array) ? 1 : 2) || array.size() == 0)
    file_error(source.path + ": features have shape " + shape_text(array.shape()) +
               "; at least one row of features, [rows, ...], is needed");
  if (array.shape()[0] != rows)
    file_error(other + " has " + std::to_string(rows) + " rows, but " + source.path + " has " +
               std::to_string(array.shape()[0]));
  const bool kept = is_integer(array) || array.dtype() == DType::uint8;
  InputColumn column{source.name, kept ? array : numbers_of(source)};
  if (has_pixels(array)) {
    if (given_pixel_options(options).empty())
      warn_of_bytes(source);
    else
      column.pixels = pixel_table(options, array.shape(), source.path);
  }
  // What stays in its file is checked when it is hashed, so that it is read once.
  if (!column.values.file()) check_finite(column.values, source.path);
  return column;
}

/// The inputs alone, for the task `none`. The first one says how many rows there are.
Dataset make_unlabelled(const std::string& name, const std::vector<NamedArray>& inputs,
                        const DataOptions& options) {
  const NamedArray& first = inputs.front();
  log::info(first.path + ": without labels (y), so this is for task none");
  const Shape& shape = first.array.shape();
  Dataset dataset;
  dataset.name = name;
  for (const NamedArray& input : inputs)
    dataset.inputs.push_back(
        column_of(input, first.path, shape.empty() ? 0 : shape.front(), options));
  return dataset;
}

Dataset make_dataset(const std::string& name, const std::vector<NamedArray>& inputs,
                     const NamedArray& labels, std::int64_t classes, const DataOptions& options) {
  Dataset dataset;
  dataset.name = name;
  Target target{labels.name, "classification", labels_of(labels.array, labels.path)};
  for (const NamedArray& input : inputs)
    dataset.inputs.push_back(column_of(input, labels.path, target.values.size(), options));
  target.class_names = numbered_classes(count_classes(target.values, classes, labels.path));
  if (classes == 0) warn_of_labels_from_one(target.values, labels.path);
  dataset.targets = {std::move(target)};
  return dataset;
}

/// The order of inputs: x, then x_0, x_1, ..., x_10, then names.
bool comes_before(const NamedArray& a, const NamedArray& b) {
  const auto key = [](const std::string& name) {
    return std::tuple(!is_by_position(name), is_by_position(name) ? name.size() : 0, name);
  };
  return key(a.name) < key(b.name);
}

std::vector<std::string> files_with(const std::string& folder, const std::string& ending) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ending) paths.push_back(entry.path().string());
  return paths;
}

constexpr auto expected =
    "the npy data set is y.npy and x.npy (or x_0.npy, x_1.npy, ..., or files named as the model's "
    "arguments), or an .npz of these";

/// The arrays of an archive, which are taken into memory: numpy does not align them in their file.
std::map<std::string, Array> arrays_in(const std::string& archive) {
  try {
    return read_npz(archive);
  } catch (const std::bad_alloc&) {
    file_error(archive + ": not enough memory for this archive; arrays in .npy files " +
               "(numpy.save) can stay in their files");
  }
}

/// The arrays of the single .npz archive, or of the .npy files.
std::vector<NamedArray> sources_in(const std::string& folder) {
  if (std::error_code error; !std::filesystem::is_directory(folder, error))
    file_error(folder + ": no such folder; " + expected);
  const std::vector<std::string> archives = files_with(folder, ".npz");
  const std::vector<std::string> files = files_with(folder, ".npy");
  if (archives.size() > 1 || (!archives.empty() && !files.empty()))
    file_error(folder + ": the data set must be one .npz archive or .npy files, but there are " +
               join(archives, ", ") + (files.empty() ? "" : " and " + join(files, ", ")));
  std::vector<NamedArray> sources;
  for (const std::string& path : archives)
    for (auto& [name, array] : arrays_in(path))
      sources.push_back({name, path + ": " + name, std::move(array)});
  for (const std::string& path : files)
    sources.push_back({std::filesystem::path(path).stem().string(), path, map_npy(path)});
  return sources;
}

/// Removes the labels from the sources and returns them; nullopt if there are none.
std::optional<NamedArray> take_labels(std::vector<NamedArray>& sources, const std::string& origin,
                                      const std::string& expected) {
  if (sources.empty()) file_error(origin + ": there is no array; " + expected);
  const auto labels = std::ranges::find(sources, "y", &NamedArray::name);
  if (labels == sources.end()) return std::nullopt;
  if (sources.size() < 2) file_error(origin + ": there is no input besides y; " + expected);
  NamedArray taken = std::move(*labels);
  sources.erase(labels);
  return taken;
}

}  // namespace

bool is_by_position(const std::string& name) {
  return name == "x" || (name.starts_with("x_") && name.size() > 2 &&
                         name.find_first_not_of("0123456789", 2) == std::string::npos);
}

Dataset read_npy_pair(const std::string& name, const std::string& x, const std::string& y,
                      std::int64_t classes) {
  return make_dataset(name, {{"x", x, read_npy(x).to_float32()}}, {"y", y, read_npy(y)}, classes,
                      {});
}

Dataset load_npy(const DataOptions& options) {
  if (options.data_dir.empty())
    config_error(
        "data set npy needs data_dir (--data-dir): a folder with x.npy and y.npy, or with an .npz");
  return dataset_of_arrays("npy", sources_in(options.data_dir), options.data_dir, expected,
                           options);
}

Dataset dataset_of_arrays(const std::string& name, std::vector<NamedArray> sources,
                          const std::string& origin, const std::string& expected,
                          const DataOptions& options) {
  std::ranges::sort(sources, comes_before);
  const std::optional<NamedArray> labels = take_labels(sources, origin, expected);
  require_pixels(name, sources, options);
  Dataset dataset = labels ? make_dataset(name, sources, *labels, 0, options)
                           : make_unlabelled(name, sources, options);
  split_randomly(dataset, options, with_pixel_options({}));
  finish(dataset, sources.front().path);
  return dataset;
}

}  // namespace mase::data
