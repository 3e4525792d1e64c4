// SPDX-License-Identifier: Apache-2.0
// The images data set: decodes the files of a list by several threads.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"
#include "data/image_file.hpp"
#include "data/image_list.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

std::string size_text(const Image& image) {
  return std::to_string(image.width) + "x" + std::to_string(image.height) + " pixels in " +
         (image.channels == 1 ? "grey" : "colour");
}

bool are_alike(const Image& a, const Image& b) {
  return a.channels == b.channels && a.height == b.height && a.width == b.width;
}

/// Writes one channel after the other.
void store(const Image& image, std::uint8_t* out) {
  const auto size = static_cast<std::size_t>(image.height * image.width);
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t channel = 0; channel < channels; ++channel)
    for (std::size_t i = 0; i < size; ++i) *out++ = image.pixels[i * channels + channel];
}

/// Reads images of one size, if this is set, into buffers that stay.
class SizedReader {
 public:
  explicit SizedReader(const ImageSize& size) : is_sized_(size.is_set()), resize_(size) {}

  const Image& operator()(const std::string& path) {  ///< valid until the next
    read_image(path, image_);
    return is_sized_ ? resize_(image_) : image_;
  }

 private:
  bool is_sized_;
  Resizer resize_;
  Image image_;
};

/// Why an image is not like the first.
std::string difference_of(const Image& image, const std::string& first_path, const Image& first) {
  return "the image has " + size_text(image) + ", but " + first_path + " has " + size_text(first) +
         "; the images of a data set must be alike, so " +
         (image.channels == first.channels
              ? "set image_size (--image-size), which resizes them and keeps their middle"
              : "convert one of them");
}

/// Calls work(i) for all i below `count` from so many threads, each with a work = make_work() of
/// its own, and throws the error of the least i that has one. Ctrl-C ends it early.
template <class MakeWork>
void for_each_index(std::size_t count, int threads, MakeWork make_work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  std::size_t error_at = count;
  const auto run = [&] {
    auto work = make_work();
    for (std::size_t i = next++; i < count && !stop_asked(); i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        next = count;
        if (i < error_at) error = std::current_exception();
        error_at = std::min(error_at, i);
      }
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
  stop_if_asked();
}

/// The decoded files: rows of pixels, and why a file cannot be read ("" if it can).
struct DecodedFiles {
  InputColumn column;
  std::vector<std::string> faults;
};

/// The first file that can be read, by which the others are judged; `faults` says why those before
/// cannot.
std::pair<std::size_t, Image> first_readable(const std::vector<LabelledFile>& files,
                                             const ImageSize& size,
                                             std::vector<std::string>& faults) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    try {
      return {i, SizedReader(size)(files[i].path)};
    } catch (const Error& error) {
      faults[i] = error.what();
    }
  }
  file_error("none of " + std::to_string(files.size()) +
             " images can be read; the first: " + faults.front());
}

DecodedFiles decode(const std::vector<LabelledFile>& files, const DataOptions& options) {
  DecodedFiles decoded{{}, std::vector<std::string>(files.size())};
  const auto [first, like] = first_readable(files, options.image_size, decoded.faults);
  decoded.column = pixel_column(
      options, {static_cast<std::int64_t>(files.size()), like.channels, like.height, like.width},
      files[first].path);
  std::uint8_t* const out = decoded.column.values.mutable_span<std::uint8_t>().data();
  const auto make_work = [&, &like = like, first = first] {
    return [&, reader = SizedReader(options.image_size)](std::size_t i) mutable {
      const Image* image = nullptr;
      try {
        image = &reader(files[i].path);
      } catch (const Error& error) {
        decoded.faults[i] = error.what();
        return;
      }
      if (!are_alike(*image, like))
        file_error(files[i].path + ": " + difference_of(*image, files[first].path, like));
      store(*image, out + i * like.pixels.size());
    };
  };
  const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for_each_index(files.size(), options.num_workers > 0 ? options.num_workers : cores, make_work);
  return decoded;
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

/// Removes the files that cannot be read, and their rows.
void leave_out(const std::vector<std::string>& faults, std::vector<LabelledFile>& files,
               Array& values) {
  const std::size_t size = values.byte_size() / files.size();
  std::byte* const bytes = values.mutable_bytes();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!faults[i].empty()) continue;
    if (kept < i) {
      std::copy_n(bytes + i * size, size, bytes + kept * size);
      files[kept] = std::move(files[i]);
    }
    ++kept;
  }
  files.resize(kept);
  values = values.rows(0, static_cast<std::int64_t>(kept));
}

/// The pixels of the files. One that cannot be read is an error, or leaves `files` if that is asked
/// for.
InputColumn read_pixels(std::vector<LabelledFile>& files, const DataOptions& options) {
  DecodedFiles decoded = decode(files, options);
  if (std::ranges::all_of(decoded.faults, &std::string::empty)) return std::move(decoded.column);
  const std::string text = faults_text(decoded.faults);
  if (!options.skip_unreadable)
    file_error(text + "\nset skip_unreadable = true (--skip-unreadable) to leave them out");
  log::warning(text + "\nthese are left out");
  leave_out(decoded.faults, files, decoded.column.values);
  return std::move(decoded.column);
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
  const std::vector<std::string> used = with_pixel_options({"image_size", "skip_unreadable"});
  Dataset dataset;
  dataset.name = "images";
  if (has_parts) {
    std::vector<std::string> all = used;
    all.emplace_back("data_dir");
    require_only(options, "images", all);
  }
  const std::vector<std::string> classes = classes_of(files);  // refuses them before decoding
  dataset.inputs = {read_pixels(files, options)};
  dataset.targets = {labels_of_files(files)};
  require_classes(classes, dataset.targets.front().class_names, options.data_dir);
  if (has_parts)
    take_part_rows(dataset, files);
  else
    split_randomly(dataset, options, used);
  finish(dataset, options.data_dir);
  return dataset;
}

}  // namespace mase::data
