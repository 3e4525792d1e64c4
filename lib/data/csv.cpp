// SPDX-License-Identifier: Apache-2.0
// The csv data set: any table of numbers with a class column.
#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"
#include "data/csv_table.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

constexpr std::size_t most_class_texts = 1000;

/// The class texts in order: numbers by value, words by spelling.
std::vector<std::string> class_texts(const CsvTable& table, std::size_t column) {
  std::map<std::string_view, bool> distinct;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.cell(row, column).empty())
      file_error(table.place(row, column) + ": the class is missing");
    distinct[table.cell(row, column)] = true;
    if (distinct.size() > most_class_texts)
      file_error(table.place(row, column) + ": more than " + std::to_string(most_class_texts) +
                 " different values, so it is not a class column. The class is the column called" +
                 " label, class or target, otherwise the last column");
  }
  std::vector<std::string> texts;
  for (const auto& entry : distinct) texts.emplace_back(entry.first);
  const bool numbers =
      std::all_of(texts.begin(), texts.end(), [](const auto& t) { return parse_int(t); });
  if (numbers)
    std::sort(texts.begin(), texts.end(),
              [](const auto& a, const auto& b) { return *parse_int(a) < *parse_int(b); });
  return texts;
}

void read_labels(const CsvTable& table, std::size_t column, Dataset& dataset) {
  Target target =
      class_target({static_cast<std::int64_t>(table.rows())}, class_texts(table, column));
  std::map<std::string_view, std::int64_t> index;
  for (std::int64_t i = 0; i < target.classes(); ++i)
    index[target.class_names[static_cast<std::size_t>(i)]] = i;
  auto labels = target.values.mutable_span<std::int64_t>();
  for (std::size_t row = 0; row < labels.size(); ++row)
    labels[row] = index.at(table.cell(row, column));
  dataset.targets = {std::move(target)};
}

void read_features(const CsvTable& table, std::size_t skip, Dataset& dataset) {
  const std::size_t width = table.columns().size();
  dataset.inputs = {{"x", Array(DType::float32, {static_cast<std::int64_t>(table.rows()),
                                                 static_cast<std::int64_t>(width - 1)})}};
  float* out = dataset.inputs.front().values.mutable_span<float>().data();
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (std::size_t column = 0; column < width; ++column)
      if (column != skip) *out++ = table.number(row, column);
}

}  // namespace

Dataset load_csv(const DataOptions& options) {
  if (options.data_dir.empty())
    config_error("data set csv needs data_dir (--data-dir): a .csv file, or a folder with one");
  const std::string path = only_file(options.data_dir, ".csv");
  const CsvTable table(path);
  if (table.columns().size() < 2)
    file_error(path + ": a data set needs at least one feature column and a class column");
  Dataset dataset;
  dataset.name = "csv";
  const std::size_t column = class_column(table, path);
  read_features(table, column, dataset);
  read_labels(table, column, dataset);
  split_randomly(dataset, options);
  finish(dataset, path);
  return dataset;
}

}  // namespace mase::data
