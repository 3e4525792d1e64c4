// SPDX-License-Identifier: Apache-2.0
// Compares the results of a row at two widths.
#include "driver/batch_lengths.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "data/group_by_length.hpp"
#include "driver/make_evaluator.hpp"
#include "driver/test_levels.hpp"

namespace mase::driver {
namespace {

/// Above rounding (1e-7 for each operation, on values that are not small beside the results), and
/// below what padding does to models that see it, untrained ones included.
constexpr float most_difference = 1e-4f;

/// Above what a few values do that float's rounding moves to the next code of a format of 8 bits.
constexpr float most_rounding = 1e-2f;

const std::string without = "leave group_by_length out";

const data::InputColumn& token_column(const data::Dataset& dataset) {
  return *std::ranges::find_if(dataset.inputs, [](const data::InputColumn& input) {
    return input.tokens && !input.tokens->lengths.empty();
  });
}

/// The largest difference of results of one shape, over the largest result.
float relative_difference(const ir::Results& wide, const ir::Results& narrow) {
  float difference = 0;
  for (std::size_t i = 0; i < std::min(wide.size(), narrow.size()); ++i) {
    const Array &a = wide[i].second, &b = narrow[i].second;
    if (a.dtype() != DType::float32 || a.shape() != b.shape()) continue;
    float largest = 1e-6f, apart = 0;
    for (std::size_t at = 0; at < a.span<float>().size(); ++at) {
      largest = std::max(largest, std::abs(a.span<float>()[at]));
      apart = std::max(apart, std::abs(a.span<float>()[at] - b.span<float>()[at]));
    }
    difference = std::max(difference, apart / largest);
  }
  return difference;
}

ir::Results run_narrow(ir::Evaluator& evaluator, const std::vector<Array>& inputs,
                       std::int64_t width) {
  try {
    return evaluator.run(inputs);
  } catch (const Error& error) {
    config_error("group_by_length: the model does not take a row of " + std::to_string(width) +
                 " tokens; " + without + ", or import the model with any length (a folder of " +
                 "transformers, or an .onnx or .pt2 file whose tokens are a dynamic dimension): " +
                 error.what());
  }
}

/// The shortest row of training.
std::vector<std::int64_t> shortest_row(const data::Dataset& dataset) {
  const auto& lengths = token_column(dataset).tokens->lengths;
  return {*std::ranges::min_element(
      dataset.train, {}, [&](std::int64_t one) { return lengths[static_cast<std::size_t>(one)]; })};
}

/// Runs the shortest row with all of its padding, and without. Nothing is said of formats whose
/// results change by rounding alone.
void check_model(const ir::Graph& graph, const data::Dataset& dataset) {
  const std::vector<std::int64_t> row = shortest_row(dataset);
  const std::int64_t all = token_column(dataset).values.shape().back(),
                     width = dataset.width_of(row).value_or(all);
  if (width == all) return;
  const auto difference_at = [&](ir::Level level) {
    const auto evaluator = make_evaluator()(graph, level);
    const ir::Results wide = evaluator->run(dataset.batch(row, 0, 1).inputs);
    return relative_difference(
        wide, run_narrow(*evaluator, dataset.narrow_batch(row, 0, 1).inputs, width));
  };
  const auto change = [&](float difference) {
    return "the results of a row of " + std::to_string(width) + " tokens change by " +
           double_text(difference) + " with " + std::to_string(all - width) + " tokens of padding";
  };
  if (const float difference = difference_at(ir::Level::floating); !(difference < most_difference))
    config_error("group_by_length: " + change(difference) +
                 ", so the model does not leave out padding; " + without);
  if (!has_formats(graph)) return;
  const float difference = difference_at(ir::Level::quantized);
  if (!(difference < most_rounding))
    log::warning(
        "group_by_length: in the formats of the model, " + change(difference) +
        ", so they depend on the texts that are in one batch; where blocks of a format lie "
        "along the tokens (block_dim), padding is in them");
}

/// The share of tokens in the batches of training that are padding.
double padding_share(const data::Dataset& dataset, std::int64_t batch_size, bool narrow) {
  const data::InputColumn& tokens = token_column(dataset);
  const auto& rows = dataset.train;
  double all = 0, texts = 0;
  Random random(0);
  std::vector<std::int64_t> order =
      narrow ? data::rows_by_length(dataset, rows, batch_size, random) : rows;
  for (std::size_t first = 0; first < order.size();) {
    const std::size_t count = std::min(static_cast<std::size_t>(batch_size), order.size() - first);
    const std::span batch(order.data() + first, count);
    const std::int64_t width = narrow ? *dataset.width_of(batch) : tokens.values.shape().back();
    all += static_cast<double>(width) * static_cast<double>(count);
    for (const std::int64_t row : batch)
      texts += tokens.tokens->lengths[static_cast<std::size_t>(row)];
    first += count;
  }
  return all == 0 ? 0 : 1 - texts / all;
}

}  // namespace

void group_batches_by_length(Session& session, const ir::Graph& graph) {
  const backend::TrainOptions& options = session.settings().train;
  if (!options.group_by_length || !session.dataset) return;
  data::Dataset& dataset = *session.dataset;
  data::group_by_length(dataset, options.batch_size, static_cast<std::uint64_t>(options.seed));
  check_model(graph, dataset);
  log::info(
      "group_by_length: " + fixed_text(100 * padding_share(dataset, options.batch_size, true), 1) +
      " % of the tokens in batches of training are padding, instead of " +
      fixed_text(100 * padding_share(dataset, options.batch_size, false), 1) + " %");
}

}  // namespace mase::driver
