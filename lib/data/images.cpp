// SPDX-License-Identifier: Apache-2.0
// The images data set: a folder of image files for each class.
#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"
#include "data/image_file.hpp"
#include "data/image_resize.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

namespace fs = std::filesystem;

struct LabelledFile {
  std::string path, label;
};

/// Names of the folders in a folder, sorted; hidden ones are left out.
std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (const std::string name = entry.path().filename().string();
        entry.is_directory() && !name.starts_with('.'))
      names.push_back(name);
  if (error) file_error(path + ": " + error.message());
  std::ranges::sort(names);
  return names;
}

/// The images below a folder with a folder per class, sorted by class and path.
std::vector<LabelledFile> files_by_class(const std::string& folder) {
  std::vector<LabelledFile> files;
  for (const std::string& label : folders_in(folder)) {
    std::vector<std::string> paths;
    const std::string inner = folder + "/" + label;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(inner, error))
      if (entry.is_regular_file() && is_image_name(entry.path().string()))
        paths.push_back(entry.path().string());
    if (error) file_error(inner + ": " + error.message());
    if (paths.empty())
      file_error(inner + ": this class has no image: there is no .png, .jpg or .jpeg file");
    std::ranges::sort(paths);
    for (std::string& path : paths) files.push_back({std::move(path), label});
  }
  if (files.empty())
    file_error(folder +
               ": there is no folder of images; the images data set is FOLDER/CLASS/*.png or "
               ".jpg, or the same below FOLDER/train, FOLDER/validation and FOLDER/test");
  return files;
}

std::optional<Part> part_called(const std::string& name) {
  if (name == "train") return Part::train;
  if (name == "val" || name == "validation") return Part::validation;
  if (name == "test") return Part::test;
  return {};
}

/// Whether the folders are parts, with the classes below, and not classes themselves.
bool are_parts(const std::vector<std::string>& folders) {
  return std::ranges::count(folders, "train") == 1 &&
         std::ranges::all_of(folders,
                             [](const auto& name) { return part_called(name).has_value(); });
}

std::string size_text(const Image& image) {
  return std::to_string(image.width) + "x" + std::to_string(image.height) + " pixels in " +
         (image.channels == 1 ? "grey" : "colour");
}

/// Writes one channel after the other.
void store(const Image& image, std::uint8_t* out) {
  const auto size = static_cast<std::size_t>(image.height * image.width);
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t channel = 0; channel < channels; ++channel)
    for (std::size_t i = 0; i < size; ++i) *out++ = image.pixels[i * channels + channel];
}

Image read_sized(const std::string& path, const ImageSize& size) {
  Image image = read_image(path);
  return size.is_set() ? resize(image, size) : image;
}

/// Refuses an image that is not like the first.
[[noreturn]] void refuse(const std::string& path, const Image& image, const std::string& first_path,
                         const Image& first) {
  file_error(path + ": the image has " + size_text(image) + ", but " + first_path + " has " +
             size_text(first) + "; the images of a data set must be alike, so " +
             (image.channels == first.channels
                  ? "set image_size (--image-size), which resizes them and keeps their middle"
                  : "convert one of them"));
}

/// Reads the images, which all have the size of the first, or get this one.
InputColumn read_pixels(const std::vector<LabelledFile>& files, const DataOptions& options) {
  const ImageSize& size = options.image_size;
  const Image first = read_sized(files.front().path, size);
  InputColumn column = pixel_column(
      options, {static_cast<std::int64_t>(files.size()), first.channels, first.height, first.width},
      files.front().path);
  std::uint8_t* out = column.values.mutable_span<std::uint8_t>().data();
  for (const LabelledFile& file : files) {
    const Image image = read_sized(file.path, size);
    if (image.channels != first.channels || image.height != first.height ||
        image.width != first.width)
      refuse(file.path, image, files.front().path, first);
    store(image, out);
    out += first.pixels.size();
  }
  return column;
}

/// Sets classes, sorted by name, and labels. All classes must be among the first `known` files.
void label(Dataset& dataset, const std::vector<LabelledFile>& files, std::size_t known) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < known; ++i) names.insert(files[i].label);
  Target target =
      class_target({static_cast<std::int64_t>(files.size())}, {names.begin(), names.end()});
  std::int64_t* out = target.values.mutable_span<std::int64_t>().data();
  for (const LabelledFile& file : files) {
    const auto found = std::ranges::lower_bound(target.class_names, file.label);
    if (found == target.class_names.end() || *found != file.label)
      file_error(file.path + ": class '" + file.label + "' has no images for training" +
                 did_you_mean(file.label, target.class_names, ""));
    *out++ = found - target.class_names.begin();
  }
  dataset.targets = {std::move(target)};
}

std::vector<std::int64_t>& rows_of(Dataset& dataset, Part part) {
  if (part == Part::train) return dataset.train;
  return part == Part::validation ? dataset.validation : dataset.test;
}

/// The images of all parts, training first; sets the parts' rows, the classes and the labels.
std::vector<LabelledFile> take_parts(Dataset& dataset, const std::string& folder,
                                     std::vector<std::string> names) {
  std::ranges::sort(names, {}, [](const std::string& name) { return *part_called(name); });
  std::vector<LabelledFile> files;
  for (const std::string& name : names)
    for (LabelledFile& file : files_by_class(folder + "/" + name)) {
      rows_of(dataset, *part_called(name)).push_back(static_cast<std::int64_t>(files.size()));
      files.push_back(std::move(file));
    }
  label(dataset, files, dataset.train.size());
  return files;
}

}  // namespace

Dataset load_images(const DataOptions& options) {
  const std::string& folder = options.data_dir;
  if (folder.empty())
    config_error(
        "data set images needs data_dir (--data-dir): a folder with a folder of .png or .jpg files "
        "for each class");
  Dataset dataset;
  dataset.name = "images";
  const std::vector<std::string> names = folders_in(folder);
  std::vector<LabelledFile> files;
  if (are_parts(names)) {
    require_only(options, "images", with_pixel_options({"data_dir", "image_size"}));
    files = take_parts(dataset, folder, names);
  } else {
    files = files_by_class(folder);
    label(dataset, files, files.size());
    split_randomly(dataset, options, with_pixel_options({"image_size"}));
  }
  dataset.inputs = {read_pixels(files, options)};
  finish(dataset, folder);
  return dataset;
}

}  // namespace mase::data
