// SPDX-License-Identifier: Apache-2.0
// Reads class indices, one-hot classes, flags and numbers.
#include "data/array_target.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"
#include "data/task.hpp"

namespace mase::data {
namespace {

constexpr std::int64_t most_classes = 10000;

bool is_whole(const Array& array) {
  return array.dtype() != DType::float32 && array.dtype() != DType::float64 &&
         array.dtype() != DType::float16 && array.dtype() != DType::bfloat16;
}

/// The row of the first [rows, classes] line that is not a single 1 among zeros; -1 if all are.
std::int64_t first_not_one_hot(const Array& values) {
  const auto classes = static_cast<std::size_t>(values.shape()[1]);
  for (std::int64_t row = 0; row < values.shape()[0]; ++row) {
    const auto line =
        values.span<float>().subspan(static_cast<std::size_t>(row) * classes, classes);
    if (std::ranges::count(line, 1.0f) != 1 ||
        std::ranges::count(line, 0.0f) != static_cast<std::ptrdiff_t>(classes) - 1)
      return row;
  }
  return -1;
}

/// The classes of one-hot lines.
Array from_one_hot(const Array& values) {
  const auto classes = static_cast<std::size_t>(values.shape()[1]);
  Array labels(DType::int64, {values.shape()[0]});
  std::size_t row = 0;
  for (std::int64_t& label : labels.mutable_span<std::int64_t>()) {
    const auto line = values.span<float>().subspan(row++ * classes, classes);
    label = std::ranges::find(line, 1.0f) - line.begin();
  }
  return labels;
}

/// Converts whole numbers of any dtype to int64.
Array from_numbers(const Array& array, const std::string& path) {
  if (array.dtype() == DType::int64) return array;
  const Array values = array.to_float32();
  const std::size_t width = values.span<float>().size() /
                            static_cast<std::size_t>(std::max<std::int64_t>(1, array.shape()[0]));
  Array labels(DType::int64, array.shape());
  auto out = labels.mutable_span<std::int64_t>();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float value = values.span<float>()[i];
    if (!(std::fabs(value) < 1e6f) || value != std::floor(value))
      file_error(path + ": row " + std::to_string(i / width) +
                 " is not a class index (a whole number); for numbers give --task regression");
    out[i] = static_cast<std::int64_t>(value);
  }
  return labels;
}

/// Class indices of rows or positions. Two dimensions may be one-hot instead.
Array classes_of(const Array& array, const std::string& path) {
  const Shape& shape = array.shape();
  if (shape.size() == 2 && shape[1] == 1) return from_numbers(array.reshaped({shape[0]}), path);
  if (shape.size() != 2) return from_numbers(array, path);
  const Array values = array.to_float32();
  const std::int64_t wrong = first_not_one_hot(values);
  if (wrong < 0) return from_one_hot(values);
  if (is_whole(array)) return from_numbers(array, path);
  file_error(path + ": row " + std::to_string(wrong) +
             " is not one-hot (a single 1, otherwise 0); for numbers give --task regression, for " +
             "several classes of a row --task multi_label");
}

/// Marks the places of the ignored class, which are not counted.
void mark_ignored(Array& labels, std::int64_t ignored, const std::string& path) {
  const auto values = labels.mutable_span<std::int64_t>();
  std::ranges::replace(values, ignored, ignored_label);
  if (std::ranges::count(values, ignored_label) == labels.size())
    file_error(path + ": all labels are " + std::to_string(ignored) +
               ", which ignore_class leaves out");
}

/// Rejects negative and absurd labels other than `ignored`; returns the number of classes.
std::int64_t count_classes(const Array& labels, std::int64_t classes,
                           const std::optional<std::int64_t>& ignored, const std::string& path) {
  const auto values = labels.span<std::int64_t>();
  const std::int64_t limit = classes > 0 ? classes : most_classes;
  const std::size_t width = values.size() / static_cast<std::size_t>(labels.shape()[0]);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != ignored && (values[i] < 0 || values[i] >= limit))
      file_error(path + ": label " + std::to_string(values[i]) + " of row " +
                 std::to_string(i / width) + " is out of range 0 .. " + std::to_string(limit - 1));
  if (classes > 0) return classes;
  std::int64_t greatest = 0;
  for (const std::int64_t label : values)
    if (label != ignored) greatest = std::max(greatest, label);
  return greatest + 1;
}

/// "3", "3, 4 and 7", "3, 4, 5 and 12 others".
std::string listed(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t most = 4;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(numbers.size(), most); ++i)
    texts.push_back(std::to_string(numbers[i]));
  return join(texts, ", ") +
         (numbers.size() > most ? " and " + std::to_string(numbers.size() - most) + " others" : "");
}

/// Warns of classes without rows, such as class 0 of labels that count from 1.
void warn_of_empty_classes(const Target& target, const std::string& path) {
  std::vector<char> seen(static_cast<std::size_t>(target.classes()));
  for (const std::int64_t label : target.values.span<std::int64_t>())
    if (label != ignored_label) seen[static_cast<std::size_t>(label)] = 1;
  std::vector<std::int64_t> empty;
  for (std::int64_t i = 0; i < target.classes(); ++i)
    if (!seen[static_cast<std::size_t>(i)]) empty.push_back(i);
  const std::int64_t last = target.classes() - 1;
  if (empty.empty() || last < 2) return;
  if (empty.front() == 0 && empty.size() == 1)
    log::warning(path + ": labels are 1 .. " + std::to_string(last) +
                 ", and no row has class 0; if these are " + std::to_string(last) +
                 " classes, store them as 0 .. " + std::to_string(last - 1) +
                 ": numpy.save(\"y.npy\", y - 1)");
  else
    log::warning(path + ": labels are up to " + std::to_string(last) + ", but no row has class " +
                 listed(empty) + "; the model needs an output for each number all the same");
}

Array flags_of(const Array& array, const std::string& path) {
  const Array values = array.to_float32();
  const auto bad = std::ranges::find_if(values.span<float>(),
                                        [](float value) { return value != 0 && value != 1; });
  if (bad == values.span<float>().end()) return values;
  const auto width = std::max<std::int64_t>(1, array.size() / array.shape()[0]);
  file_error(path + ": row " + std::to_string((bad - values.span<float>().begin()) / width) +
             " has " + double_text(*bad) + "; targets of task multi_label are 0 or 1");
}

std::string task_of(const Target& target, const Array& array, const DataOptions& options) {
  const auto own = options.outputs.find(target.output());
  if (own != options.outputs.end() && own->second.task) return own->second.task->name;
  if (options.task && find_task(options.task->name).has_labels()) return options.task->name;
  if (options.task && find_task(options.task->name).wants == Wants::nothing)
    return "regression";  // any numbers will do, since nothing is measured on them
  return target.name == "y" || is_whole(array) ? "classification" : "regression";
}

}  // namespace

bool is_target_name(const std::string& name) {
  return name == "y" || (name.starts_with("y_") && name.size() > 2);
}

Target make_target(const std::string& name, const std::string& path, const Array& array,
                   const DataOptions& options, std::int64_t classes) {
  if (array.shape().empty() || array.size() == 0)
    file_error(path + ": targets have shape " + shape_text(array.shape()) +
               "; they need a value for each row, [rows, ...]");
  Target target{name, "", {}};
  target.task = task_of(target, array, options);
  const TaskRow& task = find_task(target.task);
  if (task.wants == Wants::numbers) {
    target.values = array.to_float32();
    check_finite(target.values, path);
  } else if (task.wants == Wants::flags) {
    target.values = flags_of(array, path);
  } else {
    target.values = task.classes_first || target.task == "next_token" ? from_numbers(array, path)
                                                                      : classes_of(array, path);
    const std::optional<std::int64_t> ignored =
        target.task == "segmentation" ? options.ignore_class : std::nullopt;
    target.class_names = numbered_classes(count_classes(target.values, classes, ignored, path));
    if (ignored) mark_ignored(target.values, *ignored, path);
    if (classes == 0) warn_of_empty_classes(target, path);
  }
  return target;
}

}  // namespace mase::data
