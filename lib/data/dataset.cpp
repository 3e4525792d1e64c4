// SPDX-License-Identifier: Apache-2.0
// Parts and batches of a data set, and the table of data sets.
#include "data/dataset.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/sources.hpp"

namespace mase::data {

Part parse_part(const std::string& name) {
  if (name == "train") return Part::train;
  if (name == "validation" || name == "val") return Part::validation;
  if (name == "test") return Part::test;
  config_error("unknown part '" + name + "' of a data set; use train, validation or test");
}

const std::vector<std::int64_t>& Dataset::rows(Part part) const {
  return part == Part::train ? train : part == Part::validation ? validation : test;
}

Shape Dataset::sample_shape() const {
  return Shape(inputs.shape().begin() + 1, inputs.shape().end());
}

void Dataset::gather(const std::vector<std::int64_t>& rows, std::int64_t first, std::int64_t count,
                     float* into_inputs, std::int64_t* into_labels) const {
  MASE_CHECK(first >= 0 && count >= 0 && first + count <= static_cast<std::int64_t>(rows.size()),
             "batch outside of its part");
  if (count == 0) return;
  const auto width = static_cast<std::size_t>(inputs.size() / inputs.shape()[0]);
  const float* from = inputs.span<float>().data();
  const std::int64_t* from_labels = labels.span<std::int64_t>().data();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(first + i)]);
    std::memcpy(into_inputs + static_cast<std::size_t>(i) * width, from + row * width,
                width * sizeof(float));
    into_labels[i] = from_labels[row];
  }
}

Batch Dataset::batch(const std::vector<std::int64_t>& rows, std::int64_t first,
                     std::int64_t count) const {
  Shape shape = inputs.shape();
  shape[0] = count;
  Batch batch{Array(DType::float32, shape), Array(DType::int64, {count})};
  gather(rows, first, count, batch.inputs.mutable_span<float>().data(),
         batch.labels.mutable_span<std::int64_t>().data());
  return batch;
}

const std::vector<DatasetRow>& dataset_table() {
  static const std::vector<DatasetRow> table{
      {"jsc", "jet tagging: 1,000 shipped rows, or the full set from CSV or NPY in data_dir", "16",
       5, load_jsc},
      {"mnist", "handwritten digits, IDX files (shipped, or from data_dir)", "1x28x28", 10,
       load_mnist},
      {"toy-tiny", "made points: is the sum of four uniform numbers positive?", "1x2x2", 2,
       load_toy_tiny},
      {"csv", "a CSV file or the one in data_dir: numeric columns and a class column", "columns", 0,
       load_csv},
      {"npy", "x.npy (rows of features) and y.npy (class indices) in data_dir", "any", 0, load_npy},
  };
  return table;
}

Dataset load_dataset(const std::string& name, const DataOptions& options) {
  const std::string wanted = replace_all(name, "_", "-");
  std::vector<std::string> names;
  for (const DatasetRow& row : dataset_table()) {
    if (row.name == wanted) return row.load(options);
    names.push_back(row.name);
  }
  config_error("unknown data set '" + name + "'" +
               did_you_mean(wanted, names, "; known: " + join(names, ", ")));
}

}  // namespace mase::data
