// SPDX-License-Identifier: Apache-2.0
// The table of tasks.
#include "data/task.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/scorer.hpp"

namespace mase::data {
namespace {

/// Sizes without ones: a model may give [rows, 1] for targets [rows].
Shape without_ones(const Shape& shape) {
  Shape sizes;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i == 0 || shape[i] != 1) sizes.push_back(shape[i]);
  return sizes;
}

}  // namespace

const std::vector<TaskRow>& task_table() {
  static const std::vector<TaskRow> table{
      {"classification",
       {"cls"},
       "one class for each row, or for each position of a row",
       Wants::classes,
       "[rows] or [rows, positions] class indices",
       "[..., classes]",
       {"cross_entropy"},
       {figures::loss, figures::accuracy, figures::macro_accuracy},
       make_class_scorer},
      {"next_token",
       {"language_modeling", "lm"},
       "the next token at each position",
       Wants::classes,
       "[rows, positions] token ids",
       "[rows, positions, tokens]",
       {"cross_entropy"},
       {figures::loss, figures::perplexity, figures::accuracy, figures::macro_accuracy},
       make_next_token_scorer},
      {"segmentation",
       {},
       "one class for each pixel",
       Wants::classes,
       "[rows, height, width] class indices",
       "[rows, classes, height, width]",
       {"cross_entropy"},
       {figures::loss, figures::accuracy, figures::miou},
       make_segmentation_scorer,
       true},
      {"multi_label",
       {"binary"},
       "several classes that a row has or has not",
       Wants::flags,
       "[rows] or [rows, labels] of 0 and 1",
       "logits of the targets' shape",
       {"binary_cross_entropy"},
       {figures::loss, figures::accuracy, figures::exact, figures::precision, figures::recall,
        figures::f1},
       make_flag_scorer},
      {"regression",
       {},
       "numbers",
       Wants::numbers,
       "[rows, ...] numbers",
       "numbers of the targets' shape",
       {"mse", "l1", "huber"},
       {figures::loss, figures::mse, figures::rmse, figures::mae, figures::r2, figures::worst},
       make_number_scorer},
      {"distillation",
       {},
       "the outputs of a float model (teacher); needs no labels",
       Wants::teacher,
       "the teacher's outputs",
       "numbers of the teacher's shape",
       {"kl", "mse"},
       {figures::loss, figures::agreement, figures::difference},
       make_teacher_scorer},
      {"none",
       {},
       "how far the outputs are from those in float; needs no labels",
       Wants::nothing,
       "",
       "",
       {},
       {},
       nullptr},
  };
  return table;
}

bool TaskRow::has_figure(std::string_view figure) const {
  return std::ranges::count(figures, figure, &FigureRow::name) > 0;
}

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const TaskRow& row : task_table()) names.push_back(row.name);
  return names;
}

bool TaskName::read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                          Diagnostics& diagnostics) {
  std::string given;
  if (!field_detail::read_value(tree, key, rules, given, diagnostics)) return false;
  try {
    name = find_task(given).name;
    return true;
  } catch (const Error& error) {
    diagnostics.error(tree.where, error.what());
    return false;
  }
}

const TaskRow& find_task(const std::string& name) {
  for (const TaskRow& row : task_table())
    if (row.name == name || std::ranges::find(row.others, name) != row.others.end()) return row;
  config_error("unknown task '" + name + "'" +
               did_you_mean(name, task_names(), "; known: " + join(task_names(), ", ")));
}

bool outputs_fit(const TaskRow& task, const Shape& outputs, const Shape& targets,
                 std::int64_t classes) {
  if (task.wants != Wants::classes) return without_ones(outputs) == without_ones(targets);
  if (outputs.size() != targets.size() + 1) return false;
  const std::size_t at = task.classes_first ? 1 : targets.size();
  Shape rest = outputs;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  return rest == targets && outputs[at] >= classes;
}

std::string Figure::text() const {
  return row->is_share ? fixed_text(100 * value, row->digits) + " %"
                       : fixed_text(value, row->digits);
}

std::string figures_text(const std::vector<Figure>& figures) {
  std::vector<std::string> parts;
  for (const Figure& figure : figures)
    if (figure.row->is_brief) parts.push_back(figure.name + " " + figure.text());
  return join(parts, ", ");
}

}  // namespace mase::data
