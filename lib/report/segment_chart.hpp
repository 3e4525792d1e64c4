// SPDX-License-Identifier: Apache-2.0
// Rows of segments over one axis: times of workers, widths of layers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace mase::report {

/// A piece of a row, from one place of the axis to another.
struct Segment {
  double from = 0, to = 0;
  std::string css;    ///< its colour: a class of the page
  std::string title;  ///< where the pointer rests on it
};
struct SegmentRow {
  std::string label;
  std::vector<Segment> segments;  ///< later ones lie above
};

/// The rows from the top down. Segments outside of the axis, or not finite, are left out; a short
/// one is drawn a unit wide.
std::string segment_chart(const std::string& name, const Axis& axis,
                          std::span<const SegmentRow> rows);

}  // namespace mase::report
