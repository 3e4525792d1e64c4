// SPDX-License-Identifier: Apache-2.0
// The csv data set: any table of numbers with a class column.
#include "base/error.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"
#include "data/class_texts.hpp"
#include "data/csv_table.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

Target read_labels(const CsvTable& table, std::size_t column) {
  std::vector<std::string_view> texts;
  for (std::size_t row = 0; row < table.rows(); ++row) texts.push_back(table.cell(row, column));
  return target_of_texts(texts, [&](std::size_t row) { return table.place(row, column); });
}

float value_of(const CsvTable& table, std::size_t row, std::size_t column,
               const std::optional<double>& missing_value) {
  if (!is_missing(table.cell(row, column))) return table.number(row, column);
  if (!missing_value)
    file_error(table.place(row, column) + ": the value is missing ('" +
               std::string(table.cell(row, column)) +
               "'), and features must be finite numbers; missing_value (--missing-value) gives one "
               "for such cells");
  return static_cast<float>(*missing_value);
}

InputColumn read_features(const CsvTable& table, std::size_t skip,
                          const std::optional<double>& missing_value) {
  const std::size_t width = table.columns().size();
  InputColumn features{"x", Array(DType::float32, {static_cast<std::int64_t>(table.rows()),
                                                   static_cast<std::int64_t>(width - 1)})};
  float* out = features.values.mutable_span<float>().data();
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (std::size_t column = 0; column < width; ++column)
      if (column != skip) *out++ = value_of(table, row, column, missing_value);
  return features;
}

}  // namespace

Dataset load_csv(const DataOptions& options) {
  if (options.data_dir.empty())
    config_error("data set csv needs data_dir (--data-dir): a .csv file, or a folder with one");
  const std::string path = only_file(options.data_dir, {".csv"});
  const CsvTable table(path);
  if (table.columns().size() < 2)
    file_error(path + ": a data set needs at least one feature column and a class column");
  Dataset dataset;
  dataset.name = "csv";
  const std::size_t column = options.label_column ? column_named(table, *options.label_column, path)
                                                  : class_column(table, path);
  dataset.inputs = {read_features(table, column, options.missing_value)};
  dataset.targets = {read_labels(table, column)};
  split_randomly(dataset, options, {"label_column", "missing_value"});
  finish(dataset, path);
  return dataset;
}

}  // namespace mase::data
