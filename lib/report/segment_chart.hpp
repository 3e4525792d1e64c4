// SPDX-License-Identifier: Apache-2.0
// Rows of segments over a common axis, such as times of workers or widths of layers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace mase::report {

/// A piece of a row between two places of the axis.
struct Segment {
  double from = 0, to = 0;
  std::string css;    ///< its colour: a CSS class of the page
  std::string title;  ///< shown when the pointer rests on it
};
struct SegmentRow {
  std::string label;
  std::vector<Segment> segments;  ///< later ones cover earlier ones
};

/// The rows from top to bottom. Segments outside of the axis, or not finite, are left out; a short
/// one is drawn one unit wide.
std::string segment_chart(const std::string& name, const Axis& axis,
                          std::span<const SegmentRow> rows);

}  // namespace mase::report
