// SPDX-License-Identifier: Apache-2.0
// Parallel coordinates: an upright axis per quantity, and a line through all of them per point.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mase::report {

/// What an axis is of, and what stands at its ends.
struct ParallelAxis {
  std::string label, low, high;
};
struct ParallelLine {
  std::vector<std::optional<double>> places;  ///< by axis, 0 (low) to 1; nothing: the line breaks
  std::string css;                            ///< its colour: a class of the page
  std::string title;                          ///< where the pointer rests on it
};

/// Later lines lie above. Places that are not finite count as none.
std::string parallel_chart(const std::string& name, std::span<const ParallelAxis> axes,
                           std::span<const ParallelLine> lines);

}  // namespace mase::report
