// SPDX-License-Identifier: Apache-2.0
// The toy-tokens data set, made by the generator.
#include "base/random.hpp"
#include "data/assemble.hpp"
#include "data/sources.hpp"

namespace mase::data {
namespace {

constexpr std::int64_t row_tokens = 32, token_ids = 32;
constexpr std::int64_t kind_ids = 8;  ///< ids of the first kind; as many of the second follow
constexpr std::int64_t part_rows[] = {8192, 1024, 1024};

/// Draws a row; returns its number of tokens of the first kind minus that of the second.
std::int64_t draw(Random& random, std::int64_t* row) {
  std::int64_t balance = 0;
  for (std::int64_t i = 0; i < row_tokens; ++i) {
    row[i] = static_cast<std::int64_t>(random.below(token_ids));
    balance += row[i] < kind_ids ? 1 : row[i] < 2 * kind_ids ? -1 : 0;
  }
  return balance;
}

/// Makes the rows of a part from row `first` on, without ties; returns their row numbers.
std::vector<std::int64_t> make_part(Dataset& dataset, std::int64_t stream, std::int64_t first) {
  Random random(0, static_cast<std::uint64_t>(stream));
  std::int64_t* inputs = dataset.inputs.front().values.mutable_span<std::int64_t>().data();
  std::int64_t* labels = dataset.targets.front().values.mutable_span<std::int64_t>().data();
  std::vector<std::int64_t> rows;
  for (std::int64_t row = first; row < first + part_rows[stream]; ++row) {
    std::int64_t balance = 0;
    while (balance == 0) balance = draw(random, inputs + row * row_tokens);
    labels[row] = balance > 0 ? 1 : 0;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

Dataset load_toy_tokens(const DataOptions& options) {
  require_only(options, "toy-tokens", {});
  Dataset dataset;
  dataset.name = "toy-tokens";
  const std::int64_t rows = part_rows[0] + part_rows[1] + part_rows[2];
  dataset.inputs = {{"x", Array(DType::int64, {rows, row_tokens})}};
  dataset.targets = {class_target({rows}, {"second", "first"})};
  dataset.train = make_part(dataset, 0, 0);
  dataset.validation = make_part(dataset, 1, part_rows[0]);
  dataset.test = make_part(dataset, 2, part_rows[0] + part_rows[1]);
  finish(dataset, "toy-tokens");
  return dataset;
}

}  // namespace mase::data
