// SPDX-License-Identifier: Apache-2.0
// FreeSizes: which sizes of a graph's inputs may be others, and what all sizes are then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pt2/export/measure.hpp"
#include "pt2/export/size_functions.hpp"

namespace mase::pt2 {

/// Dimensions of inputs that have one size, which varies.
struct Axis {
  std::string symbol;  ///< "s0"
  std::vector<Place> places;
  std::int64_t example = 1, least = 1;
  std::optional<std::int64_t> most;     ///< nullopt: no limit was found
  std::vector<SizeFunction> functions;  ///< of all sizes, while the other axes have their examples
  std::vector<std::int64_t> others;     ///< three sizes other than the example's
};

/// Infers a graph with other sizes of its inputs. An axis is free if every size is a sum of floors
/// of it, in sums or products with those of the other axes, if the exporter can write all
/// arithmetic on it, and if no guard reads what depends on it.
class FreeSizes {
 public:
  explicit FreeSizes(Measure& measure);

  const std::vector<Axis>& axes() const { return axes_; }
  /// A size of Measured as sympy reads it; "" if it is fixed.
  std::string text(std::size_t size) const;

 private:
  std::vector<Place> candidates(bool rows) const;
  bool add(std::vector<Place> places);
  void add_all(std::vector<Place> places);
  std::optional<Measured> at(const std::vector<Place>& places, std::int64_t size);
  bool fit(Axis& axis, std::int64_t count);
  bool matches(const Axis& axis, std::int64_t size);
  void find_limits(Axis& axis);
  bool can_be_written(const Axis& axis) const;
  bool guards_allow(const Axis& axis) const;
  bool hold_together();
  std::vector<const Axis*> axes_of(std::size_t size) const;
  bool is_product(std::size_t size) const { return products_.at(size); }
  std::int64_t predicted(std::size_t size, const std::vector<std::int64_t>& point, bool product);

  Measure& measure_;
  const Measured& own_;
  std::vector<Axis> axes_;
  std::vector<char> products_;  ///< whether a size of several axes is their product, or a sum
};

}  // namespace mase::pt2
