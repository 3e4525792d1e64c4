// SPDX-License-Identifier: Apache-2.0
// Runs the own shards of each batch and scores those of all.
#include "torch/train/validation.hpp"

#include <optional>
#include <string>

#include "base/error.hpp"
#include "torch/train/shard_scores.hpp"

namespace mase::train {
namespace {

/// The scores of the outputs, and of the labels beside a teacher.
struct ValidationScores {
  ShardScores outputs;
  std::optional<ShardScores> labels{};
};

/// Runs the own shards of a batch of validation rows. Returns the number of rows of all shards.
std::int64_t validate_batch(const data::Dataset& data, libtorch::Executor& executor,
                            Objective& objective, Batches& batches, std::int64_t batch,
                            ValidationScores& scores) {
  std::int64_t rows = 0;
  const Shards& shards = batches.shards();
  for (std::int64_t shard = shards.first; shard < shards.end; ++shard) {
    rows = batches.load(data.validation, {batch, shard}, batches.after(shard, batch, batch + 1));
    const auto results = result_tensors(executor.run(batches.inputs()));
    scores.outputs.add(results, objective.wanted(), batches.share().rows);
    if (scores.labels) scores.labels->add(results, batches.targets(), batches.share().rows);
  }
  scores.outputs.finish_batch(rows);
  if (scores.labels) scores.labels->finish_batch(rows);
  return rows;
}

}  // namespace

data::Figures validate(const data::Dataset& data, libtorch::Executor& executor, bool quantized,
                       Objective& objective, Batches& batches, Processes& processes,
                       std::int64_t step) {
  executor.set_level(quantized ? ir::Level::quantized : ir::Level::floating);
  ValidationScores scores{{objective.losses(), processes}};
  if (objective.labels()) scores.labels.emplace(*objective.labels(), processes);
  const auto rows = static_cast<std::int64_t>(data.validation.size());
  try {
    for (std::int64_t batch = 0, done = 0; done < rows; ++batch)
      done += validate_batch(data, executor, objective, batches, batch, scores);
  } catch (const Error& error) {
    throw Error(error.fault(),
                "validation after step " + std::to_string(step) + ": " + error.what());
  }
  data::Figures figures = scores.outputs.figures();
  if (scores.labels) Objective::add_label_figures(scores.labels->figures(), figures);
  processes.take_figures_of_first(figures);
  return figures;
}

}  // namespace mase::train
