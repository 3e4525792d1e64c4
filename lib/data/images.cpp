// SPDX-License-Identifier: Apache-2.0
// The images data set: its files, their classes, and whether their pixels fit memory.
#include <algorithm>
#include <functional>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"
#include "data/image_list.hpp"
#include "data/image_rows.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

std::vector<std::string> paths_of(const std::vector<LabelledFile>& files) {
  std::vector<std::string> paths;
  for (const LabelledFile& file : files) paths.push_back(file.path);
  return paths;
}

int decoding_threads(const DataOptions& options) {
  return options.num_workers > 0
             ? options.num_workers
             : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

/// Whether so many bytes are more than decoded images may take in memory.
bool are_too_many(double bytes, const DataOptions& options) {
  constexpr double mebibyte = 1 << 20;
  if (options.image_memory) return bytes > *options.image_memory * mebibyte;
  const auto available = available_memory();
  return available && bytes > static_cast<double>(*available) / 2;
}

/// Names the files that cannot be read, the first ones at least, and counts them all.
std::string faults_text(const std::vector<std::string>& faults) {
  constexpr std::size_t most = 10;
  std::string text;
  std::size_t count = 0;
  for (const std::string& fault : faults)
    if (!fault.empty() && ++count <= most) text += "\n  " + fault;
  if (count > most) text += "\n  and " + std::to_string(count - most) + " more";
  return std::to_string(count) + " of " + std::to_string(faults.size()) + " images cannot be read" +
         text;
}

/// Refuses files that cannot be read, or warns that they are left out.
void judge(const std::vector<std::string>& faults, const DataOptions& options) {
  if (std::ranges::all_of(faults, &std::string::empty)) return;
  const std::string text = faults_text(faults);
  if (!options.skip_unreadable)
    file_error(text + "\nset skip_unreadable = true (--skip-unreadable) to leave them out");
  log::warning(text + "\nthese are left out");
}

/// Removes the files that cannot be read, and calls move(from, to) for the others that move up.
void leave_out(const std::vector<std::string>& faults, std::vector<LabelledFile>& files,
               const std::function<void(std::size_t from, std::size_t to)>& move) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!faults[i].empty()) continue;
    if (kept < i) {
      move(i, kept);
      files[kept] = std::move(files[i]);
    }
    ++kept;
  }
  files.resize(kept);
}

/// Decodes all files into memory.
void fill_column(InputColumn& column, std::vector<LabelledFile>& files,
                 const ImageDecoding& decoding, std::vector<std::string>& faults,
                 const DataOptions& options) {
  const std::size_t size = decoding.form.bytes();
  const std::span<std::uint8_t> all = column.values.mutable_span<std::uint8_t>();
  const auto place_of = [&](std::size_t i) { return all.subspan(i * size, size); };
  decoding.decode(
      files.size(), [&](std::size_t i) -> const std::string& { return files[i].path; }, place_of,
      faults);
  judge(faults, options);
  const std::size_t before = files.size();
  leave_out(faults, files, [&](std::size_t from, std::size_t to) {
    std::ranges::copy(place_of(from), place_of(to).begin());
  });
  if (files.size() < before)
    column.values = column.values.rows(0, static_cast<std::int64_t>(files.size()));
}

/// The pixels of the files. One that cannot be read is an error, or leaves `files` if that is asked
/// for.
InputColumn read_pixels(std::vector<LabelledFile>& files, const DataOptions& options) {
  std::vector<std::string> paths = paths_of(files), faults(files.size());
  const Resizing resizing{options.image_size, options.image_filter == "bicubic"};
  const ImageForm form = form_of_first(paths, resizing, faults);
  const ImageDecoding decoding{form, decoding_threads(options)};
  const double bytes = static_cast<double>(files.size()) * static_cast<double>(form.bytes());
  const bool streamed = are_too_many(bytes, options);
  const auto rows = static_cast<std::int64_t>(streamed ? 0 : files.size());
  InputColumn column =
      pixel_column(options, {rows, form.channels, form.height, form.width}, form.first);
  if (!streamed) {
    fill_column(column, files, decoding, faults, options);
    return column;
  }
  log::info(options.data_dir + ": " + std::to_string(files.size()) + " images are " +
            fixed_text(bytes / (1 << 20), 0) +
            " MiB, so each batch is decoded anew; image_memory (--image-memory) bounds what stays "
            "in memory");
  const std::string hash = survey_images(paths, decoding, faults);
  judge(faults, options);
  leave_out(faults, files, [](std::size_t, std::size_t) {});
  column.source = rows_of_images(paths_of(files), decoding, hash);
  return column;
}

/// The classes, sorted by name: those of the images for training, or of all without parts.
/// Error(Fault::file) for an image of another class.
std::vector<std::string> classes_of(const std::vector<LabelledFile>& files) {
  std::set<std::string> names;
  for (const LabelledFile& file : files)
    if (!file.part || file.part == Part::train) names.insert(file.label);
  for (const LabelledFile& file : files)
    if (!names.contains(file.label))
      file_error(file.path + ": class '" + file.label + "' has no images for training" +
                 did_you_mean(file.label, {names.begin(), names.end()}, ""));
  return {names.begin(), names.end()};
}

Target labels_of_files(const std::vector<LabelledFile>& files) {
  Target target = class_target({static_cast<std::int64_t>(files.size())}, classes_of(files));
  std::int64_t* out = target.values.mutable_span<std::int64_t>().data();
  for (const LabelledFile& file : files)
    *out++ = std::ranges::lower_bound(target.class_names, file.label) - target.class_names.begin();
  return target;
}

/// Refuses a set in which all training images of a class were left out.
void require_classes(const std::vector<std::string>& wanted, const std::vector<std::string>& found,
                     const std::string& origin) {
  for (const std::string& name : wanted)
    if (!std::ranges::binary_search(found, name))
      file_error(origin + ": no image of class '" + name +
                 "' can be read; remove the class or repair its files");
}

void take_part_rows(Dataset& dataset, const std::vector<LabelledFile>& files) {
  for (std::size_t row = 0; row < files.size(); ++row)
    (files[row].part == Part::train        ? dataset.train
     : files[row].part == Part::validation ? dataset.validation
                                           : dataset.test)
        .push_back(static_cast<std::int64_t>(row));
}

}  // namespace

Dataset load_images(const DataOptions& options) {
  if (options.data_dir.empty())
    config_error(
        "data set images needs data_dir (--data-dir): a folder with a folder of .png or .jpg files "
        "for each class, or a .csv file with the columns file and label");
  std::vector<LabelledFile> files = list_images(options.data_dir);
  const bool has_parts = files.front().part.has_value();
  const std::vector<std::string> used =
      with_pixel_options({"image_size", "image_filter", "skip_unreadable", "image_memory"});
  Dataset dataset;
  dataset.name = "images";
  const std::vector<std::string> classes = classes_of(files);  // refuses them before decoding
  dataset.inputs = {read_pixels(files, options)};
  dataset.targets = {labels_of_files(files)};
  require_classes(classes, dataset.targets.front().class_names, options.data_dir);
  if (has_parts) {
    take_part_rows(dataset, files);
    split_missing_parts(dataset, options, used);
  } else {
    split_randomly(dataset, options, used);
  }
  finish(dataset, options.data_dir);
  return dataset;
}

}  // namespace mase::data
