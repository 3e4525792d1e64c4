// SPDX-License-Identifier: Apache-2.0
// Lists images from folders and from CSV files.
#include "data/image_list.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/csv_table.hpp"
#include "data/image_file.hpp"

namespace mase::data {
namespace {

namespace fs = std::filesystem;

constexpr auto expected_images =
    "the images data set is FOLDER/CLASS/*.png or .jpg, the same below FOLDER/train, "
    "FOLDER/validation and FOLDER/test, or a .csv file with the columns file and label";

/// Names of the folders in a folder, sorted; hidden ones are left out.
std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (const std::string name = entry.path().filename().string();
        entry.is_directory() && !name.starts_with('.'))
      names.push_back(name);
  if (error) file_error(path + ": " + error.message() + "; " + expected_images);
  std::ranges::sort(names);
  return names;
}

/// The images below a folder with a folder per class, sorted by class and path.
std::vector<LabelledFile> files_by_class(const std::string& folder, std::optional<Part> part) {
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
    for (std::string& path : paths) files.push_back({std::move(path), label, part});
  }
  if (files.empty()) file_error(folder + ": there is no folder of images; " + expected_images);
  return files;
}

std::optional<Part> part_called(std::string_view name) {
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

/// The images of all parts, training first.
std::vector<LabelledFile> files_by_part(const std::string& folder, std::vector<std::string> names) {
  std::ranges::sort(names, {}, [](const std::string& name) { return *part_called(name); });
  std::vector<LabelledFile> files;
  for (const std::string& name : names)
    std::ranges::move(files_by_class(folder + "/" + name, part_called(name)),
                      std::back_inserter(files));
  return files;
}

std::size_t column_called(const CsvTable& table, const std::string& name, const std::string& path) {
  if (const auto column = table.find(name)) return *column;
  file_error(path + ": there is no column '" + name + "'" +
             (table.has_header() ? did_you_mean(name, table.columns(),
                                                "; there are " + join(table.columns(), ", "))
                                 : "; the first line must name the columns") +
             "; images take their files and classes from the columns file and label");
}

/// A cell of text; Error(Fault::file) if it is empty.
std::string text_in(const CsvTable& table, std::size_t row, std::size_t column) {
  const std::string_view cell = table.cell(row, column);
  if (cell.empty()) file_error(table.place(row, column) + " is empty");
  return std::string(cell);
}

std::vector<LabelledFile> files_in_csv(const std::string& path) {
  const CsvTable table(path);
  const std::size_t file = column_called(table, "file", path);
  const std::size_t label = column_called(table, "label", path);
  const std::optional<std::size_t> part = table.find("part");
  const fs::path folder = fs::path(path).parent_path();
  std::vector<LabelledFile> files;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    LabelledFile entry{(folder / text_in(table, row, file)).string(), text_in(table, row, label)};
    if (part) {
      entry.part = part_called(table.cell(row, *part));
      if (!entry.part)
        file_error(table.place(row, *part) + " is '" + std::string(table.cell(row, *part)) +
                   "'; a part is train, validation (or val) or test");
    }
    files.push_back(std::move(entry));
  }
  std::ranges::stable_sort(files, {}, &LabelledFile::part);
  return files;
}

/// The CSV files of a folder, sorted.
std::vector<std::string> csv_files_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (lower_case(entry.path().extension().string()) == ".csv")
      paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

std::vector<LabelledFile> list_images(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return files_in_csv(path);
  const std::vector<std::string> tables = csv_files_in(path);
  if (tables.size() > 1)
    file_error(path + ": there are several .csv files; name one of " + join(tables, ", "));
  if (tables.size() == 1) return files_in_csv(tables.front());
  const std::vector<std::string> folders = folders_in(path);
  return are_parts(folders) ? files_by_part(path, folders) : files_by_class(path, std::nullopt);
}

}  // namespace mase::data
