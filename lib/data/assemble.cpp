// SPDX-License-Identifier: Apache-2.0
// Splits, standardises and checks data sets.
#include "data/assemble.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/file_map.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "data/pieces.hpp"

namespace mase::data {
namespace {

/// The options that a user has set, but for those that every data set takes.
std::vector<std::string> given_options(const DataOptions& options) {
  const DataOptions defaults;
  std::vector<std::string> given;
  for_each_field<DataOptions>([&](const auto& field) {
    if (field.name == "task" || field.name == "num_workers" || field.name == "classes") return;
    const Tree value = field_detail::write_value(options.*(field.member));
    if (value != field_detail::write_value(defaults.*(field.member)))
      given.emplace_back(field.name);
  });
  return given;
}

std::int64_t share_rows(std::int64_t rows, double share) {
  if (share == 0.0) return 0;
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(rows) * share));
}

/// Error(Fault::config) when shares of `rows` leave none for training.
void check_shares(const std::string& name, std::int64_t rows, std::int64_t validation,
                  std::int64_t test) {
  if (validation + test < rows) return;
  config_error("data set " + name + ": " + std::to_string(rows) + " rows leave no row for" +
               " training after " + std::to_string(validation) + " for validation and " +
               std::to_string(test) + " for test; use smaller validation_share and test_share");
}

std::int64_t validation_rows(std::int64_t rows, const DataOptions& options) {
  return share_rows(rows, options.validation_share.value_or(0.1));
}

std::int64_t test_rows(std::int64_t rows, const DataOptions& options) {
  return share_rows(rows, options.test_share.value_or(0.2));
}

void split(Dataset& dataset, const DataOptions& options, const std::vector<std::int64_t>& order) {
  const std::int64_t rows = dataset.row_count(), test = test_rows(rows, options),
                     validation = validation_rows(rows, options);
  check_shares(dataset.name, rows, validation, test);
  const auto validation_begin = order.begin() + (rows - validation - test);
  const auto test_begin = order.end() - test;
  dataset.train.assign(order.begin(), validation_begin);
  dataset.validation.assign(validation_begin, test_begin);
  dataset.test.assign(test_begin, order.end());
}

/// Moves the last `count` rows of `from` to `to`, in ascending order.
void move_rows(std::vector<std::int64_t>& from, std::vector<std::int64_t>& to, std::int64_t count) {
  to.assign(from.end() - count, from.end());
  from.resize(from.size() - static_cast<std::size_t>(count));
  std::ranges::sort(to);
}

void check_parts(const Dataset& dataset) {
  std::vector<char> seen(static_cast<std::size_t>(dataset.row_count()), 0);
  for (const auto* part : {&dataset.train, &dataset.validation, &dataset.test})
    for (std::int64_t row : *part) {
      if (row < 0 || row >= dataset.row_count())
        file_error("data set " + dataset.name + ": the split names row " + std::to_string(row) +
                   ", but there are " + std::to_string(dataset.row_count()) + " rows");
      if (seen[static_cast<std::size_t>(row)]++)
        file_error("data set " + dataset.name + ": the split uses row " + std::to_string(row) +
                   " twice; train, validation and test must be disjoint");
    }
  if (dataset.train.empty())
    file_error("data set " + dataset.name + ": no row is left for training");
}

void check_labels(const Target& target, const std::string& origin) {
  if (target.values.dtype() != DType::int64) return check_finite(target.values, origin);
  const auto labels = target.values.span<std::int64_t>();
  const auto positions = static_cast<std::size_t>(numel(target.shape(1)));
  const bool may_ignore = target.task == "segmentation";
  for (std::size_t i = 0; i < labels.size(); ++i)
    if ((labels[i] < 0 || labels[i] >= target.classes()) &&
        !(may_ignore && labels[i] == ignored_label))
      file_error(origin + ": label " + std::to_string(labels[i]) + " of row " +
                 std::to_string(i / positions) + " is out of range; the set has " +
                 std::to_string(target.classes()) + " classes");
}

std::string_view bytes_of(const void* data, std::size_t size) {
  return {static_cast<const char*>(data), size};
}

/// The first value that is infinite or not a number. Blocks are judged by their exponents alone,
/// which compilers do for many values at once.
std::optional<std::size_t> find_not_finite(std::span<const float> values) {
  constexpr std::uint32_t exponent = 0x7F800000;
  constexpr std::size_t block = 1024;
  for (std::size_t first = 0; first < values.size(); first += block) {
    const auto some = values.subspan(first, std::min(block, values.size() - first));
    std::uint32_t found = 0;
    for (const float value : some)
      found |= std::uint32_t{(std::bit_cast<std::uint32_t>(value) & exponent) == exponent};
    if (found == 0) continue;
    const auto bad = std::ranges::find_if(some, [](float value) { return !std::isfinite(value); });
    return first + static_cast<std::size_t>(bad - some.begin());
  }
  return std::nullopt;
}

[[noreturn]] void not_finite(const Array& features, std::size_t index, const std::string& origin,
                             const std::vector<std::string>& columns) {
  const std::size_t width = static_cast<std::size_t>(features.size() / features.shape()[0]);
  const std::size_t column = index % width;
  const std::string name = column < columns.size() ? " ('" + columns[column] + "')" : "";
  file_error(origin + ": row " + std::to_string(index / width) + ", column " +
             std::to_string(column) + name + " (both counted from 0) is " +
             double_text(features.span<float>()[index]) + "; features must be finite");
}

/// Checks that the values are finite and returns their hash, in a single reading.
std::string check_and_hash(const Array& values, const std::string& origin,
                           const std::vector<std::string>& columns) {
  const std::string path = values.file() ? values.file()->path() : origin;
  Sha256 hash;
  for_each_piece(values, [&](std::size_t first, std::size_t count) {
    if (values.dtype() == DType::float32)
      if (const auto bad = find_not_finite(values.span<float>().subspan(first, count)))
        not_finite(values, first + *bad, path, columns);
    const std::size_t item = size_of(values.dtype());
    hash.add(bytes_of(values.bytes() + first * item, count * item));
  });
  return hash.finish();
}

/// A hash of hashes, which needs no second copy of the data.
std::string content_hash(const Dataset& dataset, const std::string& origin,
                         const std::vector<std::string>& columns) {
  std::string text;
  for (const InputColumn& input : dataset.inputs) {
    const Array& values = input.values;
    if (dataset.inputs.size() > 1) text += input.name;
    if (values.dtype() != DType::float32) text += dtype_name(values.dtype());
    text += shape_text(input.shape(input.rows()));
    text += input.source ? input.source->sha256() : check_and_hash(values, origin, columns);
    if (const auto numbers = input.pixels.numbers(); values.dtype() == DType::uint8)
      text += sha256(bytes_of(numbers.data(), numbers.size_bytes()));
  }
  for (const Target& target : dataset.targets) {
    if (dataset.targets.size() > 1) text += target.name;
    text += sha256(bytes_of(target.values.bytes(), target.values.byte_size()));
  }
  for (const auto* part : {&dataset.train, &dataset.validation, &dataset.test})
    text += sha256(bytes_of(part->data(), part->size() * sizeof(std::int64_t)));
  return sha256(text);
}

/// Mean and deviation of one feature over rows of `size` elements, of which every `width`th belongs
/// to it; a constant feature gets the deviation 1.
std::pair<double, double> mean_and_scale(std::span<const float> values,
                                         const std::vector<std::int64_t>& rows, std::size_t size,
                                         std::size_t width, std::size_t column) {
  const auto sum = [&](auto term) {
    double total = 0;
    for (const std::int64_t row : rows)
      for (std::size_t i = column; i < size; i += width)
        total += term(double(values[static_cast<std::size_t>(row) * size + i]));
    return total / (double(rows.size()) * double(size / width));
  };
  const double mean = sum([](double value) { return value; });
  const double deviation =
      std::sqrt(sum([&](double value) { return (value - mean) * (value - mean); }));
  return {mean, deviation > 0 ? deviation : 1.0};
}

}  // namespace

Target class_target(const Shape& shape, std::vector<std::string> class_names) {
  return {"y", "classification", Array(DType::int64, shape), std::move(class_names)};
}

InputColumn pixel_column(const DataOptions& options, const Shape& shape,
                         const std::string& origin) {
  InputColumn column{"x", Array(DType::uint8, shape)};
  column.pixels = pixel_table(options, shape, origin);
  return column;
}

std::vector<std::string> with_pixel_options(std::vector<std::string> options) {
  options.insert(options.end(), pixel_options().begin(), pixel_options().end());
  return options;
}

std::vector<std::string> numbered_classes(std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

std::string only_file(const std::string& path, const std::vector<std::string>& endings) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(path, error)) file_error(path + ": no such file or folder");
  if (!fs::is_directory(path, error)) return path;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (std::ranges::count(endings, lower_case(entry.path().extension().string())) > 0)
      found.push_back(entry.path().string());
  if (error) file_error(path + ": " + error.message());
  std::sort(found.begin(), found.end());
  const std::string kinds = join(endings, " or ");
  if (found.empty()) file_error(path + ": there is no " + kinds + " file in this folder");
  if (found.size() > 1)
    file_error(path + ": there are several " + kinds + " files; name one of " + join(found, ", "));
  return found.front();
}

void require_only(const DataOptions& options, const std::string& dataset,
                  const std::vector<std::string>& used) {
  for (const std::string& given : given_options(options))
    if (std::find(used.begin(), used.end(), given) == used.end())
      config_error(
          "data set " + dataset + " does not use option '" + given + "'" +
          (used.empty() ? "; it has no options" : "; options that work here: " + join(used, ", ")));
}

void split_randomly(Dataset& dataset, const DataOptions& options,
                    const std::vector<std::string>& also_used) {
  std::vector<std::string> used{"data_dir", "validation_share", "test_share", "split_seed"};
  used.insert(used.end(), also_used.begin(), also_used.end());
  require_only(options, dataset.name, used);
  split(dataset, options,
        Random(static_cast<std::uint64_t>(options.seed)).permutation(dataset.row_count()));
}

void split_missing_parts(Dataset& dataset, const DataOptions& options,
                         const std::vector<std::string>& also_used) {
  const bool no_validation = dataset.validation.empty(), no_test = dataset.test.empty();
  std::vector<std::string> used{"data_dir"};
  if (no_validation) used.emplace_back("validation_share");
  if (no_test) used.emplace_back("test_share");
  if (no_validation || no_test) used.emplace_back("split_seed");
  used.insert(used.end(), also_used.begin(), also_used.end());
  require_only(options, dataset.name, used);
  if (!no_validation && !no_test) return;
  const auto rows = static_cast<std::int64_t>(dataset.train.size());
  const std::int64_t validation = no_validation ? validation_rows(rows, options) : 0,
                     test = no_test ? test_rows(rows, options) : 0;
  check_shares(dataset.name, rows, validation, test);
  const std::vector<std::int64_t> order =
      Random(static_cast<std::uint64_t>(options.seed)).permutation(rows);
  std::vector<std::int64_t> shuffled;
  for (const std::int64_t place : order)
    shuffled.push_back(dataset.train[static_cast<std::size_t>(place)]);
  if (no_test) move_rows(shuffled, dataset.test, test);
  if (no_validation) move_rows(shuffled, dataset.validation, validation);
  std::ranges::sort(shuffled);
  dataset.train = std::move(shuffled);
}

void split_in_order(Dataset& dataset, const DataOptions& options) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(dataset.row_count()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  split(dataset, options, order);
}

void standardise(Dataset& dataset) {
  Array& features = dataset.inputs.front().values;
  const auto width = static_cast<std::size_t>(features.shape().back());
  const std::size_t size = static_cast<std::size_t>(numel(dataset.sample_shape()));
  auto values = features.mutable_span<float>();
  for (std::size_t column = 0; column < width; ++column) {
    const auto [mean, scale] = mean_and_scale(values, dataset.train, size, width, column);
    for (std::size_t at = column; at < values.size(); at += width)
      values[at] = static_cast<float>((values[at] - mean) / scale);
  }
}

void check_finite(const Array& features, const std::string& origin,
                  const std::vector<std::string>& columns) {
  if (features.dtype() != DType::float32) return;
  if (const auto bad = find_not_finite(features.span<float>()))
    not_finite(features, *bad, origin, columns);
}

void finish(Dataset& dataset, const std::string& origin, const std::vector<std::string>& columns) {
  check_parts(dataset);
  for (const Target& target : dataset.targets) check_labels(target, origin);
  dataset.sha256 = content_hash(dataset, origin, columns);
}

}  // namespace mase::data
