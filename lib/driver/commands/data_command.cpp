// SPDX-License-Identifier: Apache-2.0
// `mase data` shows what is in a data set: shapes, ranges, classes, parts, and samples as a
// picture.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/diagnostics.hpp"
#include "base/error.hpp"
#include "base/field.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "data/dataset.hpp"
#include "data/summary.hpp"
#include "driver/class_rows.hpp"
#include "driver/commands/commands.hpp"
#include "driver/output.hpp"
#include "search/results/result_rows.hpp"

namespace mase::driver {
namespace {

constexpr std::size_t samples = 8;

/// The parts by name, as they are printed.
constexpr std::array<std::pair<const char*, data::Part>, 3> parts{
    {{"train", data::Part::train},
     {"validation", data::Part::validation},
     {"test", data::Part::test}}};

data::DataOptions options_of(const DataRequest& request) {
  data::DataOptions options;
  Diagnostics diagnostics;
  read_fields(request.options, options, diagnostics);
  diagnostics.throw_if_errors();
  return options;
}

/// What an array is, without a look at its values.
Tree entry_of(const std::string& name, const Shape& shape, DType dtype) {
  Tree entry = Tree::dict();
  entry["name"] = name;
  entry["shape"] = Tree::list_of(shape);
  entry["dtype"] = std::string(dtype_name(dtype));
  return entry;
}

/// Adds the row of an array of numbers, and its range to the entry.
void show_range(const data::Range& range, const Shape& shape, passes::ReportTable& table,
                Tree& entry) {
  std::vector<std::string> row{entry.at("name").as_string(), shape_text(shape),
                               entry.at("dtype").as_string()};
  for (const auto& [key, value] : {std::pair{"min", range.least},
                                   {"max", range.greatest},
                                   {"mean", range.mean},
                                   {"deviation", range.deviation}}) {
    row.push_back(search::short_number(value));
    entry[key] = value;
  }
  table.rows.push_back(std::move(row));
}

/// What a model is fed for the pixels of an input, whose stored values are in the entry.
void show_fed(const data::InputColumn& input, Tree& entry, Output& out) {
  if (input.values.dtype() != DType::uint8) return;
  const auto numbers = input.pixels.numbers();  // 256 for each channel, or for all
  const auto ends = {entry.at("min").as_double(), entry.at("max").as_double()};
  float least = INFINITY, greatest = -INFINITY;
  for (std::size_t channel = 0; channel < numbers.size(); channel += 256)
    for (const double end : ends) {
      least = std::min(least, numbers[channel + static_cast<std::size_t>(end)]);
      greatest = std::max(greatest, numbers[channel + static_cast<std::size_t>(end)]);
    }
  entry["fed_min"] = least;
  entry["fed_max"] = greatest;
  out.text(input.name + ": a model is fed float32 numbers from " + search::short_number(least) +
           " to " + search::short_number(greatest) +
           " for these; pixel_scale, pixel_mean and pixel_std say which");
}

void show_inputs(const data::Dataset& dataset, Output& out) {
  passes::ReportTable table{
      "Inputs", {"Name", "Shape", "Type", "Min", "Max", "Mean", "Deviation"}, {}, ""};
  Tree entries = Tree::list();
  for (const data::InputColumn& input : dataset.inputs) {
    const Shape shape = input.shape(input.rows());
    entries.push_back(entry_of(input.name, shape, input.values.dtype()));
    show_range(data::range_of(input), shape, table, entries.as_list().back());
  }
  out.table(table);
  for (std::size_t i = 0; i < dataset.inputs.size(); ++i)
    show_fed(dataset.inputs[i], entries.as_list()[i], out);
  out.document()["inputs"] = std::move(entries);
}

/// Warns of classes without a row, except where the classes are all tokens that there are.
void warn_of_empty(const data::Target& target, const std::vector<std::string>& empty) {
  if (empty.empty() || target.task == "next_token") return;
  constexpr std::size_t most = 10;
  const std::vector<std::string> named(
      empty.begin(), empty.begin() + static_cast<std::ptrdiff_t>(std::min(most, empty.size())));
  log::warning(std::to_string(empty.size()) + " of " + std::to_string(target.classes()) +
               " classes have no row: " + join(named, ", ") + (empty.size() > most ? ", ..." : "") +
               "; a model has an output for each of them");
}

/// The number of rows of every class, in all parts and in each.
Tree show_classes(const data::Dataset& dataset, const data::Target& target, Output& out) {
  passes::ReportTable table{"Classes of " + target.name + ", " + shape_text(target.values.shape()),
                            {"Class", numel(target.shape(1)) == 1 ? "Rows" : "Positions"},
                            {},
                            ""};
  std::array<std::vector<std::int64_t>, parts.size()> counts;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    table.header.push_back(parts[part].first);
    counts[part] = data::count_classes(target, dataset.rows(parts[part].second));
  }
  Tree entries = Tree::dict();
  std::vector<std::string> empty;
  std::vector<ClassRow> rows;
  for (std::size_t c = 0; c < target.class_names.size(); ++c) {
    std::int64_t all = 0;
    for (const auto& part : counts) all += part[c];
    std::vector<std::string> row{target.class_names[c], std::to_string(all)};
    Tree& entry = entries[target.class_names[c]];
    entry["rows"] = all;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      row.push_back(std::to_string(counts[part][c]));
      entry[parts[part].first] = counts[part][c];
    }
    if (all == 0) empty.push_back(target.class_names[c]);
    if (all > 0) rows.push_back({all, std::move(row)});
  }
  add_class_rows(table, std::move(rows));
  out.table(table);
  warn_of_empty(target, empty);
  return entries;
}

void show_targets(const data::Dataset& dataset, Output& out) {
  passes::ReportTable numbers{
      "Targets", {"Name", "Shape", "Type", "Min", "Max", "Mean", "Deviation"}, {}, ""};
  Tree entries = Tree::list();
  for (const data::Target& target : dataset.targets) {
    Tree entry = entry_of(target.name, target.values.shape(), target.values.dtype());
    entry["task"] = target.task;
    if (target.classes() > 0)
      entry["classes"] = show_classes(dataset, target, out);
    else
      show_range(data::range_of(target.values), target.values.shape(), numbers, entry);
    entries.push_back(std::move(entry));
  }
  if (!numbers.rows.empty()) out.table(numbers);
  out.document()["targets"] = std::move(entries);
}

void show_parts(const data::Dataset& dataset, Output& out) {
  std::vector<std::string> texts;
  for (const auto& [name, part] : parts) {
    const std::size_t rows = dataset.rows(part).size();
    texts.push_back(std::to_string(rows) + " for " + name);
    out.document()["parts"][name] = rows;
  }
  out.document()["dataset"] = dataset.name;
  out.document()["rows"] = dataset.row_count();
  out.document()["sha256"] = dataset.sha256;
  out.text("data set " + dataset.name + ": " + std::to_string(dataset.row_count()) + " rows, " +
           join(texts, ", ") + (dataset.has_labels() ? "" : "; there are no labels"));
  out.text("hash " + dataset.sha256);
}

/// "cat" for a row of a set with one class per row, otherwise "".
std::string class_of(const data::Dataset& dataset, std::int64_t row) {
  if (dataset.targets.size() != 1) return "";
  const data::Target& target = dataset.labels();
  if (target.classes() == 0 || numel(target.shape(1)) != 1) return "";
  const auto label = target.values.span<std::int64_t>()[static_cast<std::size_t>(row)];
  return target.class_names[static_cast<std::size_t>(label)];
}

void write_picture(const data::Dataset& dataset, const std::string& path, Output& out) {
  const data::InputColumn& images = data::image_input(dataset);
  const std::vector<std::int64_t> rows = data::sample_rows(dataset, samples);
  const data::SamplePicture picture = data::picture_of(images, rows);
  write_file(path, data::encode_png(picture.image));
  passes::ReportTable table{path + ", from left to right and then down", {"Row", "Class"}, {}, ""};
  Tree entries = Tree::list();
  for (const std::int64_t row : rows) {
    table.rows.push_back({std::to_string(row), class_of(dataset, row)});
    Tree entry = Tree::dict();
    entry["row"] = row;
    if (!table.rows.back()[1].empty()) entry["class"] = table.rows.back()[1];
    entries.push_back(std::move(entry));
  }
  out.table(table);
  out.text("black is " + search::short_number(picture.black) + ", white is " +
           search::short_number(picture.white));
  out.document()["picture"]["file"] = path;
  out.document()["picture"]["samples"] = std::move(entries);
}

}  // namespace

int data(const DataRequest& request) {
  if (request.picture && file_exists(*request.picture) && !request.overwrite)
    config_error(*request.picture + " already exists; --overwrite replaces it");
  Output out(request.json);
  const data::Dataset dataset = data::load_dataset(request.dataset, options_of(request));
  if (request.picture) data::image_input(dataset);  // a set without images is refused at once
  show_parts(dataset, out);
  show_inputs(dataset, out);
  show_targets(dataset, out);
  if (request.picture) write_picture(dataset, *request.picture, out);
  out.finish();
  return 0;
}

}  // namespace mase::driver
