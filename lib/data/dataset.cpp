// SPDX-License-Identifier: Apache-2.0
// Parts and batches of a data set, and the table of data sets.
#include "data/dataset.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <span>

#include "base/error.hpp"
#include "base/file_map.hpp"
#include "base/text.hpp"
#include "data/augment.hpp"
#include "data/class_order.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

Shape with_rows(const Array& array, std::int64_t rows) {
  Shape shape = array.shape();
  shape.at(0) = rows;
  return shape;
}

/// Copies the given rows of an array one after another.
void gather_rows(const Array& from, std::span<const std::int64_t> rows, std::byte* into) {
  const std::size_t bytes = from.byte_size() / static_cast<std::size_t>(from.shape()[0]);
  const FileMap* const file = from.file();
  if (file) file->check_size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::byte* row = from.bytes() + static_cast<std::size_t>(rows[i]) * bytes;
    if (file)
      file->copy(row, bytes, into + i * bytes);
    else
      std::memcpy(into + i * bytes, row, bytes);
  }
}

/// The bytes of a row, which `copy` has room for; those of a mapped file are copied there.
const std::uint8_t* row_bytes(const Array& from, std::int64_t row, std::span<std::uint8_t> copy) {
  const std::byte* bytes = from.bytes() + static_cast<std::size_t>(row) * copy.size();
  if (!from.file()) return reinterpret_cast<const std::uint8_t*>(bytes);
  from.file()->check_size();
  from.file()->copy(bytes, copy.size(), reinterpret_cast<std::byte*>(copy.data()));
  return copy.data();
}

/// Makes the rows of a column with a source; the augmenter's draws depend on the row alone.
void gather_source(const InputColumn& column, std::span<const std::int64_t> rows, float* into,
                   const Augmenter* augmenter) {
  column.source->read(rows, [&](std::size_t i, std::span<std::uint8_t> bytes) {
    float* const out = into + i * bytes.size();
    if (augmenter && augmenter->changes(column))
      augmenter->convert(column, rows[i], bytes, out);
    else
      column.pixels.convert(bytes, out);
  });
}

/// The index of the argument that an input names; nullopt for x, x_0, ..., which take those left.
std::optional<std::size_t> argument_of(const std::string& dataset, const std::string& input,
                                       const std::vector<std::string>& arguments) {
  const auto found = std::ranges::find(arguments, input);
  if (found != arguments.end()) return static_cast<std::size_t>(found - arguments.begin());
  if (is_by_position(input)) return std::nullopt;
  config_error("data set " + dataset + ": the model has no input '" + input + "'" +
               did_you_mean(input, arguments, "; it has " + join(arguments, ", ")));
}

}  // namespace

Part parse_part(const std::string& name) {
  if (name == "train") return Part::train;
  if (name == "validation" || name == "val") return Part::validation;
  if (name == "test") return Part::test;
  config_error("unknown part '" + name + "' of a data set; use train, validation or test");
}

const std::vector<std::int64_t>& Dataset::rows(Part part) const {
  return part == Part::train ? train : part == Part::validation ? validation : test;
}

std::int64_t Dataset::row_count() const {
  if (!targets.empty()) return targets.front().values.shape().front();
  const auto column = std::ranges::find_if_not(inputs, &InputColumn::is_state);
  return column == inputs.end() ? 0 : column->rows();
}

const Target& Dataset::labels() const {
  if (targets.size() != 1)
    config_error("data set " + name + " has " + std::to_string(targets.size()) +
                 " targets per row, and this needs one");
  return targets.front();
}

std::string Target::output() const { return name.size() > 2 ? name.substr(2) : ""; }

std::string Target::loss_name() const {
  return loss.empty() ? find_task(task).losses.front() : loss;
}

LossOptions Target::loss_options() const {
  return {.class_weights = class_weights, .delta = huber_delta, .temperature = temperature};
}

Shape Target::shape(std::int64_t rows) const { return with_rows(values, rows); }

const InputColumn& Dataset::input() const {
  if (std::ranges::count(inputs, false, &InputColumn::is_optional) != 1)
    config_error("data set " + name + " has " + std::to_string(inputs.size()) +
                 " inputs per row, but this model takes one");
  return *std::ranges::find(inputs, false, &InputColumn::is_optional);
}

Array Dataset::features() const {
  const InputColumn& column = input();
  if (column.dtype() == column.values.dtype()) return column.values;
  Array all(column.dtype(), column.shape(column.rows()));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(row_count()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  column.gather(rows, all.mutable_bytes());
  return all;
}

bool Dataset::has_source() const {
  return std::ranges::any_of(inputs,
                             [](const InputColumn& input) { return input.source != nullptr; });
}

Shape Dataset::sample_shape() const {
  const Shape& shape = input().values.shape();
  return Shape(shape.begin() + 1, shape.end());
}

std::int64_t InputColumn::rows() const { return source ? source->count() : values.shape().front(); }

Shape InputColumn::shape(std::int64_t rows) const {
  return batch > 0 ? values.shape() : with_rows(values, rows);
}

DType InputColumn::dtype() const {
  return values.dtype() == DType::uint8 ? DType::float32 : values.dtype();
}

void InputColumn::gather(std::span<const std::int64_t> rows, std::byte* into,
                         const Augmenter* augmenter) const {
  if (values.dtype() != DType::uint8) return gather_rows(values, rows, into);
  if (source) return gather_source(*this, rows, reinterpret_cast<float*>(into), augmenter);
  const std::size_t size = values.byte_size() / static_cast<std::size_t>(values.shape()[0]);
  const bool changed = augmenter != nullptr && augmenter->changes(*this);
  std::vector<std::uint8_t> scratch(size);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float* const out = reinterpret_cast<float*>(into) + i * size;
    const std::uint8_t* bytes = row_bytes(values, rows[i], scratch);
    if (!changed) {
      pixels.convert({bytes, size}, out);
      continue;
    }
    if (bytes != scratch.data()) std::copy_n(bytes, size, scratch.begin());
    augmenter->convert(*this, rows[i], scratch, out);
  }
}

void InputColumn::read_pieces(const std::function<void(std::span<const std::uint8_t>)>& see) const {
  constexpr std::int64_t piece_bytes = std::int64_t{16} << 20;
  const std::int64_t size = numel(shape(1)), most = std::max<std::int64_t>(1, piece_bytes / size);
  std::vector<std::uint8_t> piece;
  std::vector<std::int64_t> some;
  for (std::int64_t first = 0; first < rows(); first += most) {
    some.resize(static_cast<std::size_t>(std::min(most, rows() - first)));
    std::iota(some.begin(), some.end(), first);
    piece.resize(some.size() * static_cast<std::size_t>(size));
    source->read(some, [&](std::size_t i, std::span<std::uint8_t> bytes) {
      std::ranges::copy(bytes, piece.data() + i * bytes.size());
    });
    see(piece);
  }
}

void InputColumn::begin(std::int64_t rows, std::byte* into) const {
  if (batch > 0 && rows != batch)
    config_error("'" + name + "', which the model keeps from run to run, begins as " +
                 shape_text(values.shape()) + " for batches of " + std::to_string(batch) +
                 (batch == 1 ? " row, and one has " : " rows, and one has ") +
                 std::to_string(rows) +
                 (batch == 1 ? "; give batch_size = 1"
                             : "; import the model with one row and give batch_size = 1"));
  const std::int64_t times = repeats ? rows : 1;
  for (std::int64_t i = 0; i < times; ++i)
    std::memcpy(into + static_cast<std::size_t>(i) * values.byte_size(), values.bytes(),
                values.byte_size());
}

void Dataset::follow(const std::vector<std::string>& arguments,
                     const std::vector<InputColumn>& state) {
  std::erase_if(inputs, [&](const InputColumn& input) {
    return input.is_optional && std::ranges::find(arguments, input.name) == arguments.end();
  });
  if (inputs.size() == 1 && arguments.size() == 1) return;
  if (inputs.size() > arguments.size())
    config_error("data set " + name + " has " + std::to_string(inputs.size()) +
                 " inputs per row, but the model takes " + std::to_string(arguments.size()) + ": " +
                 join(arguments, ", "));
  std::map<std::size_t, InputColumn> placed;
  std::vector<InputColumn> by_position;
  for (InputColumn& input : inputs)
    if (const auto place = argument_of(name, input.name, arguments))
      placed.emplace(*place, std::move(input));
    else
      by_position.push_back(std::move(input));
  std::size_t place = 0;
  for (InputColumn& input : by_position) {
    while (placed.contains(place)) ++place;
    input.name = arguments[place];
    placed.emplace(place, std::move(input));
  }
  for (const InputColumn& beginning : state)
    if (const auto place = argument_of(name, beginning.name, arguments))
      placed.emplace(*place, beginning);
  inputs.clear();
  for (auto& [at, input] : placed) inputs.push_back(std::move(input));
}

void Dataset::gather(const std::vector<std::int64_t>& rows, std::int64_t first, std::int64_t count,
                     const std::vector<std::byte*>& into_inputs,
                     const std::vector<std::byte*>& into_targets, const Augmenter* augmenter,
                     std::optional<std::int64_t> width) const {
  MASE_CHECK(first >= 0 && count >= 0 && first + count <= static_cast<std::int64_t>(rows.size()),
             "batch outside of its part");
  if (count == 0) return;
  const std::span wanted(rows.data() + first, static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_state())
      inputs[i].begin(count, into_inputs[i]);
    else if (width && inputs[i].tokens)
      inputs[i].gather_narrow(wanted, *width, into_inputs[i]);
    else
      inputs[i].gather(wanted, into_inputs[i], augmenter);
  for (std::size_t i = 0; i < targets.size(); ++i)
    gather_rows(targets[i].values, wanted, into_targets[i]);
}

namespace {

/// A batch whose columns of tokens have this width, if one is given.
Batch batch_of(const Dataset& dataset, const std::vector<std::int64_t>& rows, std::int64_t first,
               std::int64_t count, std::optional<std::int64_t> width) {
  Batch batch;
  for (const InputColumn& input : dataset.inputs) {
    Shape shape = input.shape(count);
    if (width && input.tokens) shape.back() = *width;
    batch.inputs.emplace_back(input.dtype(), shape);
  }
  for (const Target& target : dataset.targets)
    batch.targets.emplace_back(target.values.dtype(), target.shape(count));
  std::vector<std::byte*> into_inputs, into_targets;
  for (Array& array : batch.inputs) into_inputs.push_back(array.mutable_bytes());
  for (Array& array : batch.targets) into_targets.push_back(array.mutable_bytes());
  dataset.gather(rows, first, count, into_inputs, into_targets, nullptr, width);
  return batch;
}

}  // namespace

Batch Dataset::batch(const std::vector<std::int64_t>& rows, std::int64_t first,
                     std::int64_t count) const {
  return batch_of(*this, rows, first, count, std::nullopt);
}

Batch Dataset::narrow_batch(const std::vector<std::int64_t>& rows, std::int64_t first,
                            std::int64_t count) const {
  return batch_of(*this, rows, first, count,
                  width_of({rows.data() + first, static_cast<std::size_t>(count)}));
}

namespace {

/// Leaves out the targets for a task without labels, and refuses a task that the set is not for.
void choose_task(Dataset& dataset, const DataOptions& options) {
  if (!options.task) return;
  const std::string& asked = options.task->name;
  if (!find_task(asked).has_labels()) {
    dataset.targets.clear();
    return;
  }
  if (!dataset.has_labels())
    config_error("task = \"" + asked + "\": data set " + dataset.name +
                 " has no labels; add them (y.npy), or leave task out");
  for (const Target& target : dataset.targets)
    if (target.task != asked && !options.outputs.contains(target.output()))
      config_error("task = \"" + asked + "\": data set " + dataset.name + " is for " + target.task +
                   "; leave task out, or use another data set");
}

/// A table of one output says which one the only target is for.
void name_target(Dataset& dataset, const DataOptions& options) {
  if (dataset.targets.size() != 1 || options.outputs.size() != 1) return;
  Target& only = dataset.targets.front();
  const auto& [output, own] = *options.outputs.begin();
  if (only.name != "y") return;
  if (own.task && own.task->name != only.task)
    config_error("[outputs." + output + "]: task = \"" + own.task->name + "\", but data set " +
                 dataset.name + " is for " + only.task + "; give the setting task in its place");
  only.name = "y_" + output;
}

/// Gives targets the loss and the weight of their output's table.
void apply_outputs(Dataset& dataset, const DataOptions& options) {
  for (const auto& [output, own] : options.outputs) {
    const auto target = std::ranges::find(dataset.targets, output, &Target::output);
    if (target == dataset.targets.end()) {
      std::vector<std::string> names;
      for (const Target& other : dataset.targets) names.push_back(other.name);
      config_error("[outputs." + output + "]: data set " + dataset.name + " has no target y_" +
                   output + "; its targets are " + (names.empty() ? "none" : join(names, ", ")));
    }
    target->has_own_loss = own.loss.has_value();
    if (own.loss) target->loss = own.loss->name;
    target->weight = own.weight;
  }
}

}  // namespace

const std::vector<DatasetRow>& dataset_table() {
  static const std::vector<DatasetRow> table{
      {"jsc", "jet tagging: 1,000 shipped rows, or the full set from CSV or NPY in data_dir", "16",
       5, load_jsc},
      {"mnist", "handwritten digits, IDX files (shipped, or from data_dir)", "1x28x28", 10,
       load_mnist},
      {"toy-tiny", "made points: is the sum of four uniform numbers positive?", "1x2x2", 2,
       load_toy_tiny},
      {"toy-tokens",
       "made sequences of tokens: has one more of the first eight or of the next eight?", "32", 2,
       load_toy_tokens},
      {"cifar10",
       "small photographs, the files of the binary version or of that for Python in data_dir",
       "3x32x32", 10, load_cifar10},
      {"cifar100",
       "small photographs, the files of the binary version or of that for Python in data_dir",
       "3x32x32", 100, load_cifar100},
      {"csv", "a CSV file or the one in data_dir: numeric columns, and a class or numbers",
       "columns", 0, load_csv},
      {"npy", "x.npy (or x_0.npy, ... or arguments' names) and y.npy, or an .npz, in data_dir",
       "any", 0, load_npy},
      {"hdf5", "arrays named as the files of npy, in the .h5 file of data_dir", "any", 0,
       load_hdf5},
      {"images", "PNG and JPEG files in data_dir/CLASS, or below train, val and test, or in a CSV",
       "any", 0, load_images},
      {"text",
       "texts as bytes, or as ids of a tokenizer: a .csv or .jsonl of texts and classes in "
       "data_dir, or the next token at every position of a .txt (or of the shipped novel)",
       "64", 256, load_text, "next_token"},
  };
  return table;
}

namespace {

/// Parquet needs a library that neither Debian nor Ubuntu has in its own archive.
void refuse_parquet(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  std::error_code error;
  if (fs::path(path).extension() == ".parquet") found.push_back(path);
  for (const auto& entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".parquet") found.push_back(entry.path().string());
  if (!found.empty())
    file_error(found.front() + ": Parquet files are not read; write it as CSV, for example by " +
               "pandas.read_parquet(\"x.parquet\").to_csv(\"x.csv\", index=False), into a folder "
               "without it");
}

}  // namespace

const DatasetRow* find_dataset(const std::string& name) {
  const std::string wanted = replace_all(name, "_", "-");
  for (const DatasetRow& row : dataset_table())
    if (row.name == wanted) return &row;
  return nullptr;
}

Dataset load_dataset(const std::string& name, const DataOptions& options) {
  if (const DatasetRow* row = find_dataset(name)) {
    if (!options.data_dir.empty()) refuse_parquet(options.data_dir);
    Dataset dataset = row->load(options);
    choose_task(dataset, options);
    name_target(dataset, options);
    apply_outputs(dataset, options);
    if (options.classes.is_set()) order_classes(dataset, options.classes.list());
    return dataset;
  }
  std::vector<std::string> names;
  for (const DatasetRow& row : dataset_table()) names.push_back(row.name);
  config_error("unknown data set '" + name + "'" +
               did_you_mean(replace_all(name, "_", "-"), names, "; known: " + join(names, ", ")));
}

}  // namespace mase::data
