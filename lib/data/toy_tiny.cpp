// SPDX-License-Identifier: Apache-2.0
// The toy-tiny data set, made by the generator.
#include "base/random.hpp"
#include "data/assemble.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

constexpr std::int64_t rows_per_part = 10240;

std::vector<std::int64_t> make_part(Dataset& dataset, std::int64_t stream) {
  Random random(0, static_cast<std::uint64_t>(stream));
  const std::int64_t first = stream * rows_per_part;
  float* inputs = dataset.inputs.front().values.mutable_span<float>().data() + first * 4;
  std::int64_t* labels = dataset.targets.front().values.mutable_span<std::int64_t>().data() + first;
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < rows_per_part; ++row) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
      inputs[row * 4 + i] = static_cast<float>(random.uniform(-1.0, 1.0));
      sum += static_cast<double>(inputs[row * 4 + i]);
    }
    labels[row] = sum > 0 ? 1 : 0;
    rows.push_back(first + row);
  }
  return rows;
}

}  // namespace

Dataset load_toy_tiny(const DataOptions& options) {
  require_only(options, "toy-tiny", {});
  Dataset dataset;
  dataset.name = "toy-tiny";
  dataset.inputs = {{"x", Array(DType::float32, {3 * rows_per_part, 1, 2, 2})}};
  dataset.targets = {class_target({3 * rows_per_part}, {"0", "1"})};
  dataset.train = make_part(dataset, 0);
  dataset.validation = make_part(dataset, 1);
  dataset.test = make_part(dataset, 2);
  finish(dataset, "toy-tiny");
  return dataset;
}

}  // namespace mase::data
