// SPDX-License-Identifier: Apache-2.0
// Parallel coordinates: a vertical axis per quantity, and a line through all axes per point.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mase::report {

/// The label of an axis, and the labels at its ends.
struct ParallelAxis {
  std::string label, low, high;
};
struct ParallelLine {
  std::vector<std::optional<double>> places;  ///< by axis, 0 (low) to 1; nullopt breaks the line
  std::string css;                            ///< its colour: a CSS class of the page
  std::string title;                          ///< shown when the pointer rests on it
};

/// The chart; later lines cover earlier ones. Places that are not finite break the line.
std::string parallel_chart(const std::string& name, std::span<const ParallelAxis> axes,
                           std::span<const ParallelLine> lines);

}  // namespace mase::report
