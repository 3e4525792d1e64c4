// SPDX-License-Identifier: Apache-2.0
// Tasks: what a model does with a row of a data set, and the figures that measure it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.hpp"
#include "base/field.hpp"
#include "data/figure.hpp"

namespace mase::data {

class Scorer;
struct Target;

/// What a target holds for each row.
enum class Wants : std::uint8_t {
  nothing,  ///< no targets are used
  classes,  ///< class indices, int64
  flags,    ///< 0 or 1 for each output, float32
  numbers,  ///< a number for each output, float32
  teacher   ///< the outputs of another model, float32
};

/// A task that users can name: one row of the table.
struct TaskRow {
  std::string name;
  std::vector<std::string> others;  ///< names that mean the same
  std::string doc;
  Wants wants;
  std::string target_shape, output_shape;  ///< for messages: "[rows]", "[rows, classes]"
  std::vector<std::string> losses;         ///< rows of loss_table(), the default first
  std::vector<FigureRow> figures;          ///< what the scorer measures; the loss first
  std::unique_ptr<Scorer> (*make_scorer)(const Target& target);
  bool classes_first = false;  ///< the classes are the output's dimension 1, not its last one

  bool has_labels() const { return wants != Wants::nothing && wants != Wants::teacher; }
  bool has_figure(std::string_view name) const;
  /// Perplexity says more than the share of right predictions.
  bool has_perplexity() const { return has_figure("perplexity"); }
};

const std::vector<TaskRow>& task_table();
/// Finds a task by any of its names; Error(Fault::config) suggests the nearest one.
const TaskRow& find_task(const std::string& name);
std::vector<std::string> task_names();

/// The name of a row as a setting. Other names of the row are read as its first.
struct TaskName {
  std::string name;
  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const { return name; }
  static std::string field_type() { return "task"; }
};

/// Whether outputs of one shape can meet targets of the other, of so many classes.
bool outputs_fit(const TaskRow& task, const Shape& outputs, const Shape& targets,
                 std::int64_t classes);

/// A measured figure. With several targets its name begins with that of the target: "boxes.mae".
struct Figure {
  std::string name;
  double value = 0;
  const FigureRow* row = nullptr;

  std::string text() const;  ///< "81.20 %", "0.5432"
};

/// "loss 0.5432, accuracy 81.20 %": the brief figures.
std::string figures_text(const std::vector<Figure>& figures);

}  // namespace mase::data
