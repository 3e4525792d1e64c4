// SPDX-License-Identifier: Apache-2.0
// The jsc data set: jets from proton collisions, 16 features, 5 classes.
#include <array>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "data/assemble.hpp"
#include "data/csv_table.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

constexpr std::int64_t feature_count = 16;
constexpr std::array<const char*, 16> features{
    "zlogz",      "c1_b0_mmdt", "c1_b1_mmdt",    "c1_b2_mmdt",    "c2_b1_mmdt", "c2_b2_mmdt",
    "d2_b1_mmdt", "d2_b2_mmdt", "d2_a1_b1_mmdt", "d2_a1_b2_mmdt", "m2_b1_mmdt", "m2_b2_mmdt",
    "n2_b1_mmdt", "n2_b2_mmdt", "mass_mmdt",     "multiplicity"};
/// Gluon, quark, top, W, Z, in alphabetical order, in which label encoders number them.
const std::vector<std::string> jet_classes{"g", "q", "t", "w", "z"};
/// The classes in the order in which files of particles number them.
const std::vector<std::string> particle_classes{"g", "q", "w", "z", "t"};
/// Transverse momentum, relative pseudorapidity and relative azimuth of a particle.
constexpr std::int64_t particle_features = 3;

/// Finds a column; in some copies of the full set the names have the prefix `j_`.
std::optional<std::size_t> find_column(const CsvTable& table, const std::string& name) {
  const auto plain = table.find(name);
  return plain ? plain : table.find("j_" + name);
}

std::vector<std::size_t> feature_columns(const CsvTable& table, const std::string& path) {
  std::vector<std::size_t> columns;
  std::vector<std::string> missing;
  for (const char* name : features)
    if (const auto column = find_column(table, name))
      columns.push_back(*column);
    else
      missing.emplace_back(name);
  if (!missing.empty())
    file_error(path + ": feature columns are missing: " + join(missing, ", ") +
               "; either the header names all 16, or there is no header and each line has 16" +
               " features and the label");
  return columns;
}

const std::vector<std::string> upper_classes{"G", "Q", "T", "W", "Z"};

/// Reads a class name in either case, or a class index: "g" or "0".
std::int64_t parse_class(const CsvTable& table, std::size_t row, std::size_t column) {
  const std::string text(table.cell(row, column));
  for (std::size_t i = 0; i < jet_classes.size(); ++i)
    if (text == jet_classes[i] || text == upper_classes[i]) return static_cast<std::int64_t>(i);
  const auto index = parse_int(text);
  if (!index || *index < 0 || *index >= 5)
    file_error(table.place(row, column) + ": label '" + text.substr(0, 40) +
               "' is out of range; use g, q, t, w, z or 0 .. 4 in this order");
  return *index;
}

std::int64_t one_hot_class(const CsvTable& table, std::size_t row,
                           const std::vector<std::size_t>& columns) {
  std::int64_t found = -1, ones = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const float value = table.number(row, columns[i]);
    if (value == 1.0f) found = static_cast<std::int64_t>(i);
    ones += value != 0.0f;
  }
  if (found < 0 || ones != 1)
    file_error(table.place(row, columns[0]) + ": the class columns are not one-hot");
  return found;
}

/// The five one-hot columns, or one class column.
std::vector<std::size_t> label_columns(const CsvTable& table, const std::string& path) {
  std::vector<std::size_t> columns;
  for (const std::string& name : jet_classes)
    if (const auto column = find_column(table, name)) columns.push_back(*column);
  if (columns.size() == jet_classes.size()) return columns;
  return {class_column(table, path)};
}

Dataset empty_set(std::size_t rows) {
  Dataset dataset;
  dataset.inputs = {{"x", Array(DType::float32, {static_cast<std::int64_t>(rows), feature_count})}};
  dataset.targets = {class_target({static_cast<std::int64_t>(rows)}, jet_classes)};
  return dataset;
}

Dataset from_csv(const std::string& path) {
  const CsvTable table(path);
  std::vector<std::size_t> columns;
  if (!table.has_header() && table.columns().size() == 17)
    for (std::size_t i = 0; i < 16; ++i) columns.push_back(i);
  else
    columns = feature_columns(table, path);
  const auto labels = label_columns(table, path);
  Dataset dataset = empty_set(table.rows());
  float* out = dataset.inputs.front().values.mutable_span<float>().data();
  auto classes = dataset.targets.front().values.mutable_span<std::int64_t>();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t column : columns) *out++ = table.number(row, column);
    classes[row] =
        labels.size() == 1 ? parse_class(table, row, labels[0]) : one_hot_class(table, row, labels);
  }
  return dataset;
}

Dataset from_npy(const std::string& x, const std::string& y) {
  Dataset dataset = read_npy_pair("jsc", x, y, 5);
  const Shape shape = dataset.sample_shape();
  const bool particles = shape.size() == 2 && shape[1] == particle_features;
  if (shape != Shape{feature_count} && !particles)
    file_error(x + ": jsc rows have 16 features, or [particles, 3]; these have shape " +
               shape_text(shape));
  dataset.targets.front().class_names = particles ? particle_classes : jet_classes;
  return dataset;
}

Dataset load_full(const DataOptions& options) {
  const std::string x = options.data_dir + "/x.npy", y = options.data_dir + "/y.npy";
  const bool arrays = file_exists(x) && file_exists(y);
  const std::string path = arrays ? x : only_file(options.data_dir, {".csv"});
  Dataset dataset = arrays ? from_npy(x, y) : from_csv(path);
  dataset.name = "jsc";
  const bool named = dataset.sample_shape().size() == 1;
  split_randomly(dataset, options);
  standardise(dataset);
  finish(dataset, path,
         named ? std::vector<std::string>(features.begin(), features.end())
               : std::vector<std::string>());
  return dataset;
}

std::vector<std::int64_t> read_rows(const Tree& split, const char* part) {
  std::vector<std::int64_t> rows;
  for (const Tree& row : split.at(part).as_list()) rows.push_back(row.as_int());
  return rows;
}

/// The shipped files are pinned, so that results can be compared between machines.
void check_pinned(const std::string& path, const Tree& hashes, const std::string& name) {
  if (sha256(read_file(path)) != hashes.at(name).as_string())
    file_error(path + ": the shipped file was changed (its SHA-256 is not the one in splits.json)");
}

Dataset load_shipped() {
  const std::string folder = share_folder() + "/configs/data/jsc/";
  const std::string x = "hlf_openml_test1000_x.npy", y = "hlf_openml_test1000_y.npy";
  const Tree split = parse_json(read_file(folder + "splits.json"), folder + "splits.json");
  for (const std::string& name : {x, y}) check_pinned(folder + name, split.at("sha256"), name);
  Dataset dataset = from_npy(folder + x, folder + y);
  dataset.train = read_rows(split, "train");
  dataset.validation = read_rows(split, "validation");
  dataset.test = read_rows(split, "test");
  finish(dataset, folder + x, {features.begin(), features.end()});
  return dataset;
}

}  // namespace

Dataset load_jsc(const DataOptions& options) {
  if (!options.data_dir.empty()) return load_full(options);
  require_only(options, "jsc (shipped rows)", {"data_dir"});
  return load_shipped();
}

}  // namespace mase::data
