// SPDX-License-Identifier: Apache-2.0
// Data sets: arrays in memory with seeded, disjoint train, validation and test parts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "base/field.hpp"
#include "data/column_names.hpp"
#include "data/image_resize.hpp"
#include "data/loss.hpp"
#include "data/pixels.hpp"
#include "data/task.hpp"

namespace mase::data {

class Augmenter;

enum class Part { train, validation, test };
Part parse_part(const std::string& name);  ///< "train", "validation" (or "val"), "test"

/// Rows of bytes that are made whenever they are asked for, since all would take too much memory.
class RowSource {
 public:
  using Use = std::function<void(std::size_t i, std::span<std::uint8_t> bytes)>;

  virtual ~RowSource() = default;
  virtual std::int64_t count() const = 0;
  /// Calls use(i, bytes) with the bytes of rows[i], for all i in any order and from several threads
  /// at once; it may change the bytes.
  virtual void read(std::span<const std::int64_t> rows, const Use& use) const = 0;
  virtual std::string sha256() const = 0;  ///< hash of the bytes of all rows
};

/// What is known of columns of tokens.
struct TokenFacts {
  std::string tokenizer;              ///< the file that made the ids
  std::vector<std::int32_t> lengths;  ///< of rows, without padding; empty if no row is padded
  bool pads_left = false;
};

/// The values for one argument of a model, for all rows.
struct InputColumn {
  std::string name;  ///< "x", "x_0", "x_1", ... by position, or the argument's own name
  Array values;      ///< [rows, ...] float32, int64 or int32 (token ids, masks), or uint8 pixels
  /// What a model keeps from run to run begins with the same values for every row, [1, ...], or
  bool repeats = false;
  /// for every batch of so many rows, in any shape.
  std::int64_t batch = 0;
  bool is_optional = false;  ///< left out of a model that has no argument of this name
  PixelTable pixels{};       ///< what uint8 values become when rows are gathered
  /// Where uint8 rows come from that are not in `values`, which then has no rows.
  std::shared_ptr<const RowSource> source{};
  std::shared_ptr<const TokenFacts> tokens{};  ///< of [rows, tokens] that a tokenizer made

  std::int64_t rows() const;
  Shape shape(std::int64_t rows) const;  ///< of so many rows of a batch
  DType dtype() const;                   ///< of a batch: float32 for pixels
  /// Writes the given rows as batches have them, one after another, with the changes of an
  /// augmenter if there is one.
  void gather(std::span<const std::int64_t> rows, std::byte* into,
              const Augmenter* augmenter = nullptr) const;
  /// Writes the first `width` tokens of rows, or the last where padding stands in front.
  void gather_narrow(std::span<const std::int64_t> rows, std::int64_t width, std::byte* into) const;
  bool is_state() const { return repeats || batch > 0; }
  /// The bytes of all rows, piece by piece in their order, of a column with a source.
  void read_pieces(const std::function<void(std::span<const std::uint8_t>)>& see) const;
  /// What a batch of so many rows begins with; Error(Fault::config) where that is not known.
  void begin(std::int64_t rows, std::byte* into) const;
};

/// What every row asks of one output of a model.
struct Target {
  std::string name;  ///< "y", or "y_" with the place or the name of the output
  std::string task;  ///< a row of task_table()
  Array values;      ///< [rows, ...]: int64 class indices, or float32 numbers
  std::vector<std::string> class_names{};
  std::string loss{};  ///< a row of loss_table(); "": the default of the task
  double weight = 1;   ///< of its loss in the sum that training minimises
  std::vector<float> class_weights{};
  double huber_delta = 1, temperature = 1;
  bool has_own_loss = false;  ///< from the table of its output, which wins over the setting

  std::int64_t classes() const { return static_cast<std::int64_t>(class_names.size()); }
  Shape shape(std::int64_t rows) const;  ///< of so many rows of a batch
  std::string output() const;            ///< what follows "y_" in its name; "" for "y"
  std::string loss_name() const;         ///< the loss, or the default of the task
  LossOptions loss_options() const;
};

/// n rows of a data set.
struct Batch {
  std::vector<Array> inputs;   ///< [n, ...] each, in the order of the data set's inputs
  std::vector<Array> targets;  ///< [n, ...] each, in the order of the data set's targets
};

/// A loaded data set. `parts` are row numbers into `inputs`.
struct Dataset {
  std::string name;
  std::vector<InputColumn> inputs;  ///< at least one; all have the same number of rows
  std::vector<Target> targets;      ///< none without labels; the same number of rows
  std::vector<std::int64_t> train, validation, test;
  std::string sha256;      ///< hash of inputs, targets and parts, stored in checkpoints
  bool by_length = false;  ///< batches are only as wide as their longest row: group_by_length

  const std::vector<std::int64_t>& rows(Part part) const;
  std::int64_t row_count() const;
  bool has_labels() const { return !targets.empty(); }
  bool has_source() const;  ///< an input of it makes its rows when they are asked for
  /// The only target; Error(Fault::config) if there are several or none.
  const Target& labels() const;
  /// The only input that is not optional; Error(Fault::config) when there are several.
  const InputColumn& input() const;
  Array features() const;      ///< all rows of this input, as batches have them
  Shape sample_shape() const;  ///< shape of one row of the only input
  /// Sorts the inputs by the model's arguments. An input takes the argument with its name; x and
  /// x_N take the first one left. Inputs get the names of the arguments, except for a model with a
  /// single argument. Optional inputs that no argument asks for are left out. An argument without
  /// an input takes its values from `state`, if they are there. Error(Fault::config) for a name
  /// that no argument has.
  void follow(const std::vector<std::string>& arguments,
              const std::vector<InputColumn>& state = {});
  /// Gathers rows[first, first + count) into a batch.
  Batch batch(const std::vector<std::int64_t>& rows, std::int64_t first, std::int64_t count) const;
  /// The same, but columns of tokens are as wide as `width_of` these rows.
  Batch narrow_batch(const std::vector<std::int64_t>& rows, std::int64_t first,
                     std::int64_t count) const;
  /// How many tokens of a column of tokens a batch of these rows has: those of the longest row
  /// with `by_length`; nullopt for all.
  std::optional<std::int64_t> width_of(std::span<const std::int64_t> rows) const;
  /// Like `batch`, into the caller's buffers of count rows each (the training loop reuses them),
  /// with the changes of an augmenter if there is one.
  void gather(const std::vector<std::int64_t>& rows, std::int64_t first, std::int64_t count,
              const std::vector<std::byte*>& into_inputs,
              const std::vector<std::byte*>& into_targets, const Augmenter* augmenter = nullptr,
              std::optional<std::int64_t> width = std::nullopt) const;
};

/// The settings of one output of a model: a table [outputs.NAME].
struct OutputOptions {
  std::optional<TaskName> task;
  std::optional<LossName> loss;
  double weight = 1;
  static constexpr auto fields() {
    using O = OutputOptions;
    return std::tuple{
        Field{"task", &O::task, "task of this output; if not given, that of the model"},
        Field{"loss", &O::loss, "its training loss; if not given, the first of the task"},
        Field{"weight", &O::weight, "of its loss in the sum that training minimises"}.between(0.0,
                                                                                              1e6)};
  }
};

/// What a setting of data decides.
enum class Decides {
  numbers,  ///< which numbers a row becomes
  rows,     ///< which rows there are
  targets,  ///< what is predicted of them
  speed     ///< how fast they are read
};

struct DataOptions;

/// A field of DataOptions with what it decides, which is numbers for a plain Field.
template <class T>
struct DecidingField : Field<DataOptions, T> {
  Decides decides;
};
template <class T>
constexpr DecidingField<T> decides(Decides what, const Field<DataOptions, T>& field) {
  return {field, what};
}

/// The options of data sets. A set does not ignore an option silently: one that it does not use is
/// an error.
struct DataOptions {
  std::optional<TaskName> task;
  std::map<std::string, OutputOptions> outputs;  ///< by the name or the place of the output
  std::string data_dir = "";  ///< folder with the user's files; "" means the shipped sample
  std::optional<double> validation_share;  ///< share of rows when the set has no fixed split
  std::optional<double> test_share;
  int seed = 0;  ///< seed of the split
  std::optional<int> max_token_len;
  ImageSize image_size;
  std::string image_filter = "bilinear";
  bool skip_unreadable = false;
  int num_workers = 0;
  std::optional<double> image_memory;
  ColumnNames label_column;                ///< of a table
  std::optional<std::string> text_column;  ///< of a table
  std::optional<std::string> text_pair_column;
  std::optional<std::string> tokenizer;      ///< tokenizer.json, or a folder with it
  std::optional<int> token_limit{};          ///< positions of the model; not a setting
  ColumnNames classes;                       ///< in the order of the model's outputs
  ChannelNumbers missing_value;              ///< stand for missing cells of a table
  std::optional<std::int64_t> ignore_class;  ///< of segmentation
  std::optional<double> pixel_scale;
  ChannelNumbers pixel_mean, pixel_std;
  static constexpr auto fields() {
    return std::tuple{
        decides(Decides::targets,
                Field{"task", &DataOptions::task,
                      "task of the model (`mase list tasks`); if not given, that of the data set"}
                    .rare()),
        decides(Decides::rows, Field{"data_dir", &DataOptions::data_dir,
                                     "folder with the data files; if empty, the bundled sample"}),
        decides(Decides::rows, Field{"validation_share", &DataOptions::validation_share,
                                     "share of rows for validation if the set has no fixed split"}
                                   .between(0.0, 0.9)
                                   .rare()),
        decides(Decides::rows, Field{"test_share", &DataOptions::test_share,
                                     "share of rows for test if the set has no fixed split"}
                                   .between(0.0, 0.9)
                                   .rare()),
        decides(
            Decides::rows,
            Field{"split_seed", &DataOptions::seed, "seed of a random split"}.at_least(0).rare()),
        Field{"max_token_len", &DataOptions::max_token_len,
              "tokens per row of text; NA: 64 for bytes and for windows of a long text, otherwise "
              "the longest text"}
            .at_least(1)
            .rare(),
        Field{"image_size", &DataOptions::image_size,
              "images get so many rows and columns: N resizes the shorter side and keeps the "
              "middle, HxW resizes both, and 256:224 resizes to 256 and keeps 224; NA: as they are"}
            .between(1, 4096)
            .rare(),
        Field{"image_filter", &DataOptions::image_filter, "how images are resized"}
            .one_of("bilinear", "bicubic")
            .rare(),
        decides(Decides::rows,
                Field{"skip_unreadable", &DataOptions::skip_unreadable,
                      "leave out images that cannot be read, with a warning, instead of ending"}
                    .rare()),
        decides(Decides::speed, Field{"num_workers", &DataOptions::num_workers,
                                      "threads that decode images and make tokens; 0: as many "
                                      "as there are cores"}
                                    .between(0, 4096)
                                    .rare()),
        Field{
            "image_memory", &DataOptions::image_memory,
            "decoded images stay in memory if they take at most so many MiB, otherwise each batch "
            "is decoded anew; NA: half of the free memory"}
            .at_least(0)
            .rare(),
        Field{"label_column", &DataOptions::label_column,
              "columns with the class or the numbers to predict, by name or number; NA: the one "
              "called "
              "label, class or target"}
            .rare(),
        Field{"text_column", &DataOptions::text_column,
              "column with the text, by name or number; NA: the one called text"}
            .rare(),
        Field{"text_pair_column", &DataOptions::text_pair_column,
              "column with the second text of a pair, by name or number"}
            .rare(),
        Field{"tokenizer", &DataOptions::tokenizer,
              "tokenizer.json of Hugging Face, or a folder that has it; NA: that of the model's "
              "folder, otherwise bytes are tokens"}
            .rare(),
        decides(Decides::targets, Field{"classes", &DataOptions::classes,
                                        "names of the classes in the order of the model's outputs; "
                                        "NA: numbers in their order, other names sorted"}
                                      .rare()),
        Field{
            "missing_value", &DataOptions::missing_value,
            "for the missing cells of a table: one number, or one for each feature; NA: a missing "
            "cell is an error"}
            .rare(),
        Field{
            "ignore_class", &DataOptions::ignore_class,
            "places of this class count neither in loss nor in figures of task segmentation, such "
            "as 255; NA: all count"}
            .rare(),
        Field{"pixel_scale", &DataOptions::pixel_scale,
              "uint8 pixels are multiplied by this number; NA: 1/255"}
            .rare(),
        Field{"pixel_mean", &DataOptions::pixel_mean,
              "subtracted from the scaled pixels: one number, or one for each channel"}
            .rare(),
        Field{"pixel_std", &DataOptions::pixel_std,
              "divides the pixels after that: one number, or one for each channel"}
            .rare()};
  }
};

/// A data set that users can name: one row of the table.
struct DatasetRow {
  std::string name;
  std::string doc;
  std::string shape;  ///< shape of a row for listings: "16", "1x28x28"
  int classes;        ///< 0: depends on the files
  Dataset (*load)(const DataOptions& options);
  std::string task = "classification";  ///< its task: a row of task_table()
};

const std::vector<DatasetRow>& dataset_table();
/// The row of a data set; nullptr when there is none. "toy_tiny" and "toy-tiny" are the same.
const DatasetRow* find_dataset(const std::string& name);
/// Loads a data set by name; Error(Fault::config) suggests the nearest name.
Dataset load_dataset(const std::string& name, const DataOptions& options);

}  // namespace mase::data
