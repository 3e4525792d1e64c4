// SPDX-License-Identifier: Apache-2.0
// The data sets cifar10 and cifar100, in their binary version.
#include <cstring>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

constexpr std::size_t cifar_pixels = 3 * 32 * 32;

/// How one of the two sets is stored. The class is the last byte before the pixels.
struct CifarLayout {
  std::string name;
  std::size_t label_bytes;
  std::vector<std::string> train_files;
  std::string test_file, names_file;
  std::size_t classes;
};

/// The names of the classes, one a line.
std::vector<std::string> class_names_of(const CifarLayout& layout, const std::string& folder) {
  const std::string path = folder + "/" + layout.names_file;
  std::vector<std::string> names;
  for (const std::string& line : mase::split(read_file(path), '\n'))
    if (const std::string name(trim(line)); !name.empty()) names.push_back(name);
  if (names.size() != layout.classes)
    file_error(path + ": " + std::to_string(names.size()) + " names of classes; there are " +
               std::to_string(layout.classes));
  return names;
}

/// Appends the records of a file.
void append_records(const CifarLayout& layout, const std::string& path, std::string& records) {
  const std::string bytes = read_file(path);
  const std::size_t size = layout.label_bytes + cifar_pixels;
  if (bytes.empty() || bytes.size() % size != 0)
    file_error(path + ": " + std::to_string(bytes.size()) +
               " bytes are not a number of records of " + std::to_string(size) +
               " bytes; the data set " + layout.name + " reads the binary version of the files");
  records += bytes;
}

/// The version for Python has the same names without an ending.
void refuse_python_version(const CifarLayout& layout, const std::string& folder) {
  const std::string binary = folder + "/" + layout.test_file;
  const std::string python = binary.substr(0, binary.rfind('.'));
  if (file_exists(python) && !file_exists(binary))
    file_error(python + ": this is the version for Python, which is pickled; the data set " +
               layout.name + " reads the binary version, which the same page has");
}

Dataset load_cifar(const CifarLayout& layout, const DataOptions& options) {
  require_only(options, layout.name, with_pixel_options({"data_dir"}));
  const std::string& folder = options.data_dir;
  if (folder.empty())
    config_error("data set " + layout.name + " needs data_dir (--data-dir): a folder with " +
                 layout.test_file + " and the other files of the binary version");
  refuse_python_version(layout, folder);
  Dataset dataset;
  dataset.name = layout.name;
  const std::vector<std::string> class_names = class_names_of(layout, folder);
  std::string records;
  for (const std::string& file : layout.train_files)
    append_records(layout, folder + "/" + file, records);
  const std::size_t size = layout.label_bytes + cifar_pixels;
  const auto train = static_cast<std::int64_t>(records.size() / size);
  append_records(layout, folder + "/" + layout.test_file, records);
  const auto rows = static_cast<std::int64_t>(records.size() / size);
  dataset.inputs = {pixel_column(options, {rows, 3, 32, 32}, folder)};
  dataset.targets = {class_target({rows}, class_names)};
  std::byte* pixels = dataset.inputs.front().values.mutable_bytes();
  std::int64_t* labels = dataset.targets.front().values.mutable_span<std::int64_t>().data();
  for (std::size_t at = 0; at < records.size(); at += size) {
    *labels++ = static_cast<unsigned char>(records[at + layout.label_bytes - 1]);
    std::memcpy(pixels, records.data() + at + layout.label_bytes, cifar_pixels);
    pixels += cifar_pixels;
  }
  const std::int64_t validation = train / 10;
  for (std::int64_t row = 0; row < rows; ++row)
    (row >= train                ? dataset.test
     : row >= train - validation ? dataset.validation
                                 : dataset.train)
        .push_back(row);
  finish(dataset, folder);
  return dataset;
}

}  // namespace

Dataset load_cifar10(const DataOptions& options) {
  return load_cifar({"cifar10",
                     1,
                     {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                      "data_batch_4.bin", "data_batch_5.bin"},
                     "test_batch.bin",
                     "batches.meta.txt",
                     10},
                    options);
}

Dataset load_cifar100(const DataOptions& options) {
  return load_cifar({"cifar100", 2, {"train.bin"}, "test.bin", "fine_label_names.txt", 100},
                    options);
}

}  // namespace mase::data
