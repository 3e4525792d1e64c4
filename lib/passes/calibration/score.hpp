// SPDX-License-Identifier: Apache-2.0
// What calibration measures for every candidate of a port, and which candidate each method takes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "passes/calibration/candidates.hpp"
#include "passes/calibration/options.hpp"
#include "passes/statistics/histogram.hpp"

namespace mase::passes {

/// How well a format suits the values seen; lower is better.
struct Score {
  std::int64_t saturated = 0;  ///< values beyond the format
  double squared_error = 0;    ///< sum of (q(x) - x)^2; measured for mse only
  double divergence = 0;       ///< in nats; measured for kl only
};

/// Candidates that several parts of a tensor have in common.
using SharedCandidates = std::shared_ptr<const std::vector<Candidate>>;

/// Measures the candidates of one port on the tensors passed to add().
class PortScores {
 public:
  /// Error(Fault::config) when the method cannot tell the candidates apart.
  PortScores(SharedCandidates candidates, const CalibrationOptions& options);
  PortScores(std::vector<Candidate> candidates, const CalibrationOptions& options)
      : PortScores(std::make_shared<const std::vector<Candidate>>(std::move(candidates)), options) {
  }

  /// `values` are finite, of any floating type.
  void add(const Array& values);

  const std::vector<Candidate>& candidates() const { return *candidates_; }
  std::int64_t count() const { return count_; }
  std::vector<Score> scores() const;

 private:
  SharedCandidates candidates_;
  bool errors_;  ///< true when the method needs squared errors
  std::vector<Score> scores_;
  std::optional<Histogram> histogram_;
  std::int64_t count_ = 0;
};

/// The index of the candidate that the method takes; `candidates` are in the order of their reach.
std::size_t choose(const std::vector<Candidate>& candidates, const std::vector<Score>& scores,
                   std::int64_t count, const CalibrationOptions& options);

}  // namespace mase::passes
