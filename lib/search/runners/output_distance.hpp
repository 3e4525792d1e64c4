// SPDX-License-Identifier: Apache-2.0
// The runner output_distance, which needs no labels.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "search/runners/runner.hpp"

namespace mase::search {

/// The table `[search.strategy.sw_runner.output_distance]`.
struct OutputDistance {
  static constexpr RunnerDoc doc{"output_distance", RunnerKind::software,
                                 "Compares the outputs of every trial with those of the float "
                                 "model; needs no labels.",
                                 false};
  static constexpr std::array metrics{
      MetricDoc{"sqnr_db", Direction::maximize,
                "lowest SQNR of an output against the float model, dB; 300 for equal outputs"},
      MetricDoc{"cosine", Direction::maximize,
                "lowest cosine between an output and that of the float model"},
      MetricDoc{"worst_error", Direction::minimize,
                "largest difference of an output's element from the float model"}};
  std::string data_loader = "val_dataloader";
  std::optional<int> num_samples;
  static constexpr auto fields() {
    using O = OutputDistance;
    return std::tuple{
        Field{"data_loader", &O::data_loader, "part of the data set"}.one_of(
            "train_dataloader", "val_dataloader", "test_dataloader"),
        Field{"num_samples", &O::num_samples, "rows to compare; default: all"}.at_least(1)};
  }
  std::unique_ptr<Runner> make(const Bench& bench) const;
};

}  // namespace mase::search
