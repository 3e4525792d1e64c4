// SPDX-License-Identifier: Apache-2.0
// Joins batches, writes files, and reads what programs print.
#include "search/own_metrics/metric_rows.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "base/error.hpp"
#include "base/npy.hpp"
#include "base/process.hpp"
#include "base/run_folder.hpp"
#include "base/text.hpp"

namespace mase::search {
namespace {

/// Whether the arrays are [rows, ...] and differ in their numbers of rows only.
bool can_join(const Array& first, const Array& other) {
  const Shape &a = first.shape(), &b = other.shape();
  return !a.empty() && a.size() == b.size() && first.dtype() == other.dtype() &&
         std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

/// The arrays at this place of all batches, one after the other along their first dimension.
Array join_batches(const std::vector<ir::Results>& batches, std::size_t place) {
  const auto& [name, first] = batches.front().at(place);
  Shape shape = first.shape();
  std::int64_t rows = 0;
  for (const ir::Results& batch : batches) {
    const Array& next = batch.at(place).second;
    if (!can_join(first, next))
      throw Error(Fault::unsupported, "metrics get arrays of shape [rows, ...], but " +
                                          (name.empty() ? "the output" : quote(name)) +
                                          " has shape " + shape_text(first.shape()) +
                                          " for one batch and " + shape_text(next.shape()) +
                                          " for another; return one row for each input row");
    rows += next.shape().front();
  }
  shape.front() = rows;
  Array all(first.dtype(), shape);
  std::byte* out = all.mutable_bytes();
  for (const ir::Results& batch : batches) {
    const Array& next = batch.at(place).second;
    out = std::copy_n(next.bytes(), next.byte_size(), out);
  }
  return all;
}

/// One array as .npy, several as .npz. Returns the file's path.
std::string write_arrays(const RunFolder& folder, std::string_view name,
                         const GrowingArrays& rows) {
  const ir::Results arrays = rows.joined();
  const std::string base = folder.file(std::string(name));
  if (arrays.size() == 1) {
    write_npy(base + ".npy", arrays.front().second);
    return base + ".npy";
  }
  write_npz(base + ".npz", arrays);
  return base + ".npz";
}

using Files = std::map<std::string, std::string>;

[[noreturn]] void fail(const OwnMetric& metric, const std::string& reason) {
  file_error(metric.text() + " " + reason);
}

/// The first line of a text, cut to what fits a message.
std::string one_line(std::string_view text) {
  constexpr std::size_t longest = 80;
  const std::string line = split(trim(text), '\n').front();
  return line.size() <= longest ? line : line.substr(0, longest) + "...";
}

constexpr const char* by_hand =
    "\n`mase run MODEL --input x.npy --output y.npy` writes outputs to try the program on by hand";

constexpr const char* wanted_output =
    "; it must print one finite number, or a JSON object of such, to standard output, and anything "
    "else to standard error";

/// The numbers of an object under "NAME.key".
Tree numbers_in(const OwnMetric& metric, const Tree& object) {
  Tree values = Tree::dict();
  for (const auto& [key, value] : object.as_dict()) {
    if (!is_metric_name(key))
      fail(metric,
           "printed the key " + quote(key) + "; a key has letters, digits, '_', '-' and '.'");
    if (!value.is_number() || !std::isfinite(value.as_double()))
      fail(metric, "printed no finite number for " + quote(key) + wanted_output);
    values[metric.name + "." + key] = value.as_double();
  }
  if (values.size() == 0) fail(metric, std::string("printed an empty object") + wanted_output);
  return values;
}

/// The number that was printed under the name of the metric, or several under "NAME.key".
Tree printed_numbers(const OwnMetric& metric, const std::string& printed) {
  const std::string text(trim(printed));
  if (text.empty()) fail(metric, std::string("printed nothing") + wanted_output);
  if (const auto number = parse_double(text); number && std::isfinite(*number)) {
    Tree value = Tree::dict();
    value[metric.name] = *number;
    return value;
  }
  if (!text.starts_with('{')) fail(metric, "printed " + quote(one_line(text)) + wanted_output);
  try {
    return numbers_in(metric, parse_json(text, "its output"));
  } catch (const Error& error) {
    if (error.fault() == Fault::internal) throw;
    fail(metric, "printed no JSON object: " + std::string(error.what()));
  }
}

Tree run_program(const OwnMetric& metric, const Files& files) {
  std::vector<std::string> words = metric.words;
  for (std::string& word : words)
    for (const auto& [placeholder, path] : files) word = replace_all(word, placeholder, path);
  ProcessOptions options;
  options.seconds = metric.time_limit;
  const ProcessResult result = run_process(words, options);
  if (result.timed_out)
    fail(metric, "did not end within " + double_text(metric.time_limit) +
                     " s and was stopped; raise time_limit, or give it fewer rows (num_samples in "
                     "a search, --rows in mase test)");
  if (result.status != 0)
    fail(metric, "ended with status " + std::to_string(result.status) + ":\n" +
                     last_lines(result, 10) + by_hand);
  return printed_numbers(metric, result.out);
}

void check_there(const OwnMetric& metric) {
  const std::string& program = metric.words.front();
  if (program.find('/') == std::string::npos) {
    if (!program_exists(program))
      config_error(metric.text() + ": there is no program '" + program +
                   "' in PATH; install it, or give its path, such as ./" + program);
  } else if (::access(program.c_str(), F_OK) != 0) {
    config_error(metric.text() + ": there is no file '" + program +
                 "'; paths start from the folder in which mase runs");
  } else if (::access(program.c_str(), X_OK) != 0) {
    config_error(metric.text() + ": '" + program + "' may not be run; `chmod +x " + program +
                 "` allows it, or let its interpreter run it, as python3 does");
  }
}

}  // namespace

void GrowingArrays::add(const ir::Results& batch) {
  MASE_CHECK(batches_.empty() || batches_.front().size() == batch.size(),
             "batches have other arrays");
  batches_.push_back(batch);
}

ir::Results GrowingArrays::joined() const {
  ir::Results all;
  MASE_CHECK(!batches_.empty(), "no batch was added");
  for (std::size_t place = 0; place < batches_.front().size(); ++place)
    all.emplace_back(batches_.front()[place].first, join_batches(batches_, place));
  return all;
}

bool MetricRows::reads(std::string_view file) const {
  return std::any_of(programs_.begin(), programs_.end(),
                     [&](const OwnMetric* metric) { return metric->reads(file); });
}

void MetricRows::add_data(const data::Dataset& dataset, const data::Batch& batch) {
  const auto named = [](const auto& columns, const std::vector<Array>& arrays) {
    ir::Results all;
    for (std::size_t i = 0; i < arrays.size(); ++i) all.emplace_back(columns[i].name, arrays[i]);
    return all;
  };
  if (reads(targets_file)) targets_.add(named(dataset.targets, batch.targets));
  if (reads(inputs_file)) inputs_.add(named(dataset.inputs, batch.inputs));
}

Tree MetricRows::measure() const {
  const std::pair<std::string_view, const GrowingArrays*> all[] = {
      {outputs_file, &outputs_}, {targets_file, &targets_}, {inputs_file, &inputs_}};
  const RunFolder folder;
  Files files;
  for (const auto& [name, arrays] : all)
    if (reads(name)) files["{" + std::string(name) + "}"] = write_arrays(folder, name, *arrays);
  Tree values = Tree::dict();
  for (const OwnMetric* metric : programs_) {
    const Tree printed = run_program(*metric, files);
    for (const auto& [name, value] : printed.as_dict()) values[name] = value;
  }
  return values;
}

void check_programs(const std::vector<const OwnMetric*>& programs, const data::Dataset& dataset) {
  for (const OwnMetric* metric : programs) {
    check_there(*metric);
    if (metric->reads(targets_file) && !dataset.has_labels())
      config_error(metric->text() + " needs targets, and there are none in data set " +
                   dataset.name +
                   "; add y.npy (a task \"none\" leaves it out), or take {targets} out of the "
                   "command");
  }
}

}  // namespace mase::search
