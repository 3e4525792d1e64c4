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
#include "data/array_target.hpp"
#include "data/assemble.hpp"
#include "data/named_arrays.hpp"
#include "data/pieces.hpp"
#include "data/sources.hpp"
#include "data/summary.hpp"

namespace mase::data {
namespace {

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

/// Checks the rows of an array; `other` is the file that says how many there are.
void check_rows(const NamedArray& source, const std::string& other, std::int64_t rows) {
  if (source.array.shape()[0] != rows)
    file_error(other + " has " + std::to_string(rows) + " rows, but " + source.path + " has " +
               std::to_string(source.array.shape()[0]));
}

/// Keeps token ids and masks as the integers that an embedding takes, and bytes as bytes; all else
/// becomes float32. `other` is the file that says how many rows there are.
InputColumn column_of(const NamedArray& source, const std::string& other, std::int64_t rows,
                      const DataOptions& options) {
  const Array& array = source.array;
  if (array.shape().size() < (is_integer(array) ? 1 : 2) || array.size() == 0)
    file_error(source.path + ": features have shape " + shape_text(array.shape()) +
               "; at least one row of features, [rows, ...], is needed");
  check_rows(source, other, rows);
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
  log::info(first.path + ": without targets (y), so this is for task none");
  const Shape& shape = first.array.shape();
  Dataset dataset;
  dataset.name = name;
  for (const NamedArray& input : inputs)
    dataset.inputs.push_back(
        column_of(input, first.path, shape.empty() ? 0 : shape.front(), options));
  return dataset;
}

/// Inputs and targets, of which there is at least one.
Dataset make_dataset(const std::string& name, const std::vector<NamedArray>& inputs,
                     const std::vector<NamedArray>& targets, const DataOptions& options,
                     std::int64_t classes = 0) {
  Dataset dataset;
  dataset.name = name;
  for (const NamedArray& target : targets)
    dataset.targets.push_back(
        make_target(target.name, target.path, target.array, options, classes));
  const std::int64_t rows = dataset.row_count();
  for (const NamedArray& target : targets) check_rows(target, targets.front().path, rows);
  for (const NamedArray& input : inputs)
    dataset.inputs.push_back(column_of(input, targets.front().path, rows, options));
  return dataset;
}

/// Refuses ignore_class where no target has places of classes.
void require_segmentation(const Dataset& dataset, const DataOptions& options) {
  if (!options.ignore_class) return;
  std::vector<std::string> tasks;
  for (const Target& target : dataset.targets) tasks.push_back(target.name + " " + target.task);
  if (std::ranges::count(dataset.targets, "segmentation", &Target::task) == 0)
    config_error("ignore_class is for task segmentation (--task), and the targets of data set " +
                 dataset.name + " are " + (tasks.empty() ? "none" : join(tasks, ", ")));
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
    "the npy data set is y.npy (or y_0.npy, y_1.npy, ... for several outputs) and x.npy (or "
    "x_0.npy, x_1.npy, ..., or files named as the model's arguments), or an .npz of these";

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

/// Removes the targets from the sources and returns them.
std::vector<NamedArray> take_targets(std::vector<NamedArray>& sources, const std::string& origin,
                                     const std::string& expected) {
  if (sources.empty()) file_error(origin + ": there is no array; " + expected);
  const auto inputs = std::ranges::stable_partition(
      sources, [](const NamedArray& source) { return is_target_name(source.name); });
  if (inputs.empty())
    file_error(origin + ": there is no input besides " + sources.front().name + "; " + expected);
  std::vector<NamedArray> targets(std::make_move_iterator(sources.begin()),
                                  std::make_move_iterator(inputs.begin()));
  sources.erase(sources.begin(), inputs.begin());
  return targets;
}

}  // namespace

bool is_by_position(const std::string& name) {
  return name == "x" || (name.starts_with("x_") && name.size() > 2 &&
                         name.find_first_not_of("0123456789", 2) == std::string::npos);
}

Dataset read_npy_pair(const std::string& name, const std::string& x, const std::string& y,
                      std::int64_t classes) {
  return make_dataset(name, {{"x", x, read_npy(x).to_float32()}}, {{"y", y, read_npy(y)}}, {},
                      classes);
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
  const std::vector<NamedArray> targets = take_targets(sources, origin, expected);
  require_pixels(name, sources, options);
  Dataset dataset = targets.empty() ? make_unlabelled(name, sources, options)
                                    : make_dataset(name, sources, targets, options);
  require_segmentation(dataset, options);
  split_randomly(dataset, options, with_pixel_options({"ignore_class"}));
  finish(dataset, sources.front().path);
  return dataset;
}

}  // namespace mase::data
