// SPDX-License-Identifier: Apache-2.0
// The data sets cifar10 and cifar100, in their binary version and in that for Python.
#include <cstring>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"
#include "data/sources.hpp"
#include "pickle/read_pickle.hpp"

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
  /// For the version for Python, whose files of images have the names above without an ending.
  std::string python_names_file, names_key, labels_key;
};

/// The names of the classes, one a line.
std::vector<std::string> binary_class_names(const std::string& path) {
  std::vector<std::string> names;
  for (const std::string& line : mase::split(read_file(path), '\n'))
    if (const std::string name(trim(line)); !name.empty()) names.push_back(name);
  return names;
}

/// Appends the records of a file.
void append_records(const CifarLayout& layout, const std::string& path, std::string& records) {
  const std::string bytes = read_file(path);
  const std::size_t size = layout.label_bytes + cifar_pixels;
  if (bytes.empty() || bytes.size() % size != 0)
    file_error(path + ": " + std::to_string(bytes.size()) +
               " bytes are not a number of records of " + std::to_string(size) +
               " bytes; the data set " + layout.name + " reads the binary version of such files");
  records += bytes;
}

std::string without_ending(const std::string& path) { return path.substr(0, path.rfind('.')); }

/// Whether a folder has the version for Python and not the binary one.
bool is_python_version(const CifarLayout& layout, const std::string& folder) {
  const std::string binary = folder + "/" + layout.test_file;
  return !file_exists(binary) && file_exists(without_ending(binary));
}

using pickle::PickleItem;
using Kind = PickleItem::Kind;

/// The value of a key in a pickled dict. Error(Fault::file) if it is not of this kind.
const PickleItem& value_of(const pickle::Pickle& file, const std::string& key, Kind kind,
                           const std::string& path) {
  for (const auto& [name, item] : file.result->entries)
    if (name == key && item->kind == kind) return *item;
  file_error(path + ": there is no " + (kind == Kind::array ? "array" : "list") + " '" + key +
             "', which the files of CIFAR for Python have");
}

pickle::Pickle read_python_file(const std::string& path) {
  return pickle::read_pickle(read_file(path), path, pickle::PickleOf::arrays);
}

/// Appends the records of a file for Python as the binary version has them.
void append_python_records(const CifarLayout& layout, const std::string& path,
                           std::string& records) {
  const pickle::Pickle file = read_python_file(path);
  const PickleItem& pixels = value_of(file, "data", Kind::array, path);
  const PickleItem& labels = value_of(file, layout.labels_key, Kind::list, path);
  const std::size_t rows = labels.items.size();
  if (rows == 0 || pixels.shape != Shape{static_cast<std::int64_t>(rows), cifar_pixels})
    file_error(path + ": the pixels have shape " + shape_text(pixels.shape) + " for " +
               std::to_string(rows) + " labels; they need [" + std::to_string(rows) + ", " +
               std::to_string(cifar_pixels) + "]");
  const bool by_column = pixels.integer == 1;
  for (std::size_t row = 0; row < rows; ++row) {
    const PickleItem& label = *labels.items[row];
    if (label.kind != Kind::integer || label.integer < 0 || label.integer > 255)
      file_error(path + ": the label of row " + std::to_string(row) + " is not a class");
    records.append(layout.label_bytes - 1, '\0');
    records += static_cast<char>(label.integer);
    if (!by_column) records.append(pixels.text, row * cifar_pixels, cifar_pixels);
    for (std::size_t i = 0; by_column && i < cifar_pixels; ++i)
      records += pixels.text[row + i * rows];
  }
}

std::vector<std::string> python_class_names(const CifarLayout& layout, const std::string& path) {
  const pickle::Pickle file = read_python_file(path);
  std::vector<std::string> names;
  for (const PickleItem* item : value_of(file, layout.names_key, Kind::list, path).items)
    names.push_back(item->text);
  return names;
}

std::vector<std::string> class_names_of(const CifarLayout& layout, const std::string& folder,
                                        bool is_python) {
  const std::string path =
      folder + "/" + (is_python ? layout.python_names_file : layout.names_file);
  std::vector<std::string> names =
      is_python ? python_class_names(layout, path) : binary_class_names(path);
  if (names.size() != layout.classes)
    file_error(path + ": " + std::to_string(names.size()) + " names of classes; there are " +
               std::to_string(layout.classes));
  return names;
}

Dataset load_cifar(const CifarLayout& layout, const DataOptions& options) {
  require_only(options, layout.name, with_pixel_options({"data_dir"}));
  const std::string& folder = options.data_dir;
  if (folder.empty())
    config_error("data set " + layout.name + " needs data_dir (--data-dir): a folder with " +
                 layout.test_file +
                 " and the other files of the binary version, or with those for Python");
  const bool is_python = is_python_version(layout, folder);
  Dataset dataset;
  dataset.name = layout.name;
  const std::vector<std::string> class_names = class_names_of(layout, folder, is_python);
  std::string records;
  const auto append = [&](const std::string& file) {
    const std::string path = folder + "/" + file;
    is_python ? append_python_records(layout, without_ending(path), records)
              : append_records(layout, path, records);
  };
  for (const std::string& file : layout.train_files) append(file);
  const std::size_t size = layout.label_bytes + cifar_pixels;
  const auto train = static_cast<std::int64_t>(records.size() / size);
  append(layout.test_file);
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
                     10,
                     "batches.meta",
                     "label_names",
                     "labels"},
                    options);
}

Dataset load_cifar100(const DataOptions& options) {
  return load_cifar({"cifar100",
                     2,
                     {"train.bin"},
                     "test.bin",
                     "fine_label_names.txt",
                     100,
                     "meta",
                     "fine_label_names",
                     "fine_labels"},
                    options);
}

}  // namespace mase::data
