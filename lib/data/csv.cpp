// SPDX-License-Identifier: Apache-2.0
// The csv data set: any table of numbers with columns of classes or numbers to predict.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"
#include "data/class_texts.hpp"
#include "data/csv_table.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

using Columns = std::vector<std::size_t>;

/// The columns to predict: those of label_column, or the one of the class.
Columns target_columns(const CsvTable& table, const DataOptions& options, const std::string& path) {
  std::vector<std::string> names = options.label_column.names;
  if (names.empty()) return {class_column(table, path)};
  // A name may have commas itself; otherwise they are those of the command line.
  if (names.size() == 1 && !table.find(names.front())) names = mase::split(names.front(), ',');
  Columns columns;
  for (const std::string& name : names) {
    columns.push_back(column_named(table, std::string(trim(name)), path));
    if (std::ranges::count(columns, columns.back()) > 1)
      config_error("label_column names column '" + std::string(trim(name)) + "' twice");
  }
  if (columns.size() == table.columns().size())
    config_error("label_column names all columns of " + path + ", so none is left for features");
  return columns;
}

/// A number to predict, or a flag.
float target_number(const CsvTable& table, std::size_t row, std::size_t column, bool is_flag) {
  if (is_missing(table.cell(row, column)))
    file_error(table.place(row, column) +
               ": the target is missing; leave the row out, since no number can stand for it");
  const float number = table.number(row, column);
  if (is_flag && number != 0 && number != 1)
    file_error(table.place(row, column) + ": " + std::string(table.cell(row, column)) +
               " is not a flag; targets of task multi_label are 0 or 1");
  return number;
}

/// The columns side by side, [rows, columns]; [rows] of a single one.
Target number_target(const std::string& name, const std::string& task, const CsvTable& table,
                     const Columns& columns) {
  Shape shape{static_cast<std::int64_t>(table.rows())};
  if (columns.size() > 1) shape.push_back(static_cast<std::int64_t>(columns.size()));
  Target target{name, task, Array(DType::float32, shape)};
  const bool is_flag = find_task(task).wants == Wants::flags;
  float* out = target.values.mutable_span<float>().data();
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (const std::size_t column : columns) *out++ = target_number(table, row, column, is_flag);
  return target;
}

Target class_target_of(const std::string& name, const CsvTable& table, std::size_t column) {
  std::vector<std::string_view> texts;
  for (std::size_t row = 0; row < table.rows(); ++row) texts.push_back(table.cell(row, column));
  Target target = target_of_texts(texts, [&](std::size_t row) { return table.place(row, column); });
  target.name = name;
  return target;
}

/// Whether all cells are numbers, and one of them has a fraction.
bool has_fractions(const CsvTable& table, std::size_t column) {
  bool found = false;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto number = parse_double(table.cell(row, column));
    if (!number) return false;
    found = found || *number != std::floor(*number);
  }
  return found;
}

Target target_of_column(const std::string& name, const std::string& task, const CsvTable& table,
                        std::size_t column) {
  switch (find_task(task).wants) {
    case Wants::numbers:
    case Wants::flags:
      return number_target(name, task, table, {column});
    default:
      if (task != "classification")
        config_error("data set csv has no targets of task " + task +
                     "; columns of a table are for classification, regression and multi_label");
      return class_target_of(name, table, column);
  }
}

/// A target for each of several columns, named after it. Its task is that of its output, or follows
/// from its values.
std::vector<Target> targets_by_column(const CsvTable& table, const Columns& columns,
                                      const DataOptions& options) {
  std::vector<Target> targets;
  for (const std::size_t column : columns) {
    const std::string& name = table.columns()[column];
    const auto own = options.outputs.find(name);
    const bool is_given = own != options.outputs.end() && own->second.task;
    targets.push_back(target_of_column("y_" + name,
                                       is_given                       ? own->second.task->name
                                       : has_fractions(table, column) ? "regression"
                                                                      : "classification",
                                       table, column));
  }
  return targets;
}

std::vector<Target> read_targets(const CsvTable& table, const Columns& columns,
                                 const DataOptions& options) {
  const bool is_given = options.task && find_task(options.task->name).has_labels();
  const std::string task = is_given ? options.task->name : "classification";
  const Wants wants = find_task(task).wants;
  const bool side_by_side = wants == Wants::numbers || wants == Wants::flags;
  if (columns.size() == 1) return {target_of_column("y", task, table, columns.front())};
  if (side_by_side && options.outputs.empty()) return {number_target("y", task, table, columns)};
  return targets_by_column(table, columns, options);
}

/// The numbers that stand for missing cells: none, one for all features, or one for each.
class MissingNumbers {
 public:
  MissingNumbers(const std::vector<double>& numbers, const CsvTable& table, const Columns& features)
      : numbers_(numbers) {
    if (numbers.size() <= 1 || numbers.size() == features.size()) return;
    std::vector<std::string> names;
    for (const std::size_t column : features) names.push_back(table.columns()[column]);
    config_error("missing_value has " + std::to_string(numbers.size()) +
                 " numbers; give one, or one for each of the " + std::to_string(names.size()) +
                 " features: " + join(names, ", "));
  }
  bool are_given() const { return !numbers_.empty(); }
  float of(std::size_t feature) const {
    return static_cast<float>(numbers_.size() == 1 ? numbers_.front() : numbers_[feature]);
  }

 private:
  const std::vector<double>& numbers_;
};

InputColumn read_features(const CsvTable& table, const Columns& targets,
                          const DataOptions& options) {
  Columns columns;
  for (std::size_t column = 0; column < table.columns().size(); ++column)
    if (std::ranges::count(targets, column) == 0) columns.push_back(column);
  const MissingNumbers missing(options.missing_value.numbers, table, columns);
  InputColumn features{"x", Array(DType::float32, {static_cast<std::int64_t>(table.rows()),
                                                   static_cast<std::int64_t>(columns.size())})};
  float* out = features.values.mutable_span<float>().data();
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string_view cell = table.cell(row, columns[i]);
      if (is_missing(cell) && !missing.are_given())
        file_error(table.place(row, columns[i]) + ": the value is missing ('" + std::string(cell) +
                   "'), and features must be finite numbers; missing_value (--missing-value) gives "
                   "one for such cells");
      *out++ = is_missing(cell) ? missing.of(i) : table.number(row, columns[i]);
    }
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
  const Columns targets = target_columns(table, options, path);
  dataset.inputs = {read_features(table, targets, options)};
  dataset.targets = read_targets(table, targets, options);
  split_randomly(dataset, options, {"label_column", "missing_value"});
  finish(dataset, path);
  return dataset;
}

}  // namespace mase::data
