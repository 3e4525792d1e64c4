// SPDX-License-Identifier: Apache-2.0
// Samples of a tensor, and the groups of their elements over which a statistic is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "base/tree.hpp"

namespace mase::passes {

/// `count` samples of one shape, one after another. Activations are cut into rows of shape
/// [1, ...]; a weight is one sample.
struct Samples {
  std::span<const float> values;  ///< count * numel(shape)
  std::int64_t count;
  Shape shape;  ///< of one sample
};

/// The option `dims`: the dimensions of a sample over which, besides all samples, a statistic is
/// taken. It is "all", "none" (each element by itself, over the samples) or a list, in which
/// negative numbers count from the end.
struct Dims {
  bool all = true;
  std::vector<std::int64_t> listed;

  /// Reads the option's value; false after a diagnostic at its place.
  bool read(const Tree& value, Diagnostics& diagnostics);
  Tree write() const;
};

/// The cells of a statistic. The elements of a cell have the same index in every dimension that is
/// kept.
class Cells {
 public:
  /// Error(Fault::config) when the samples do not have one of the dimensions.
  Cells(const Dims& dims, const Shape& sample);

  std::size_t size() const { return size_; }
  /// The number of the samples' values in each cell.
  std::int64_t per_cell(const Samples& samples) const {
    return size_ == 0 ? 0 : static_cast<std::int64_t>(samples.values.size() / size_);
  }
  /// Calls f(cell, value) for every value, in order. Error(Fault::config) for samples of another
  /// shape, unless everything is one cell.
  template <class F>
  void for_each(const Samples& samples, F&& f) const {
    if (size_ == 1) {
      for (const float value : samples.values) f(std::size_t{0}, value);
      return;
    }
    check_shape(samples.shape);
    for (std::size_t first = 0; first < samples.values.size(); first += cell_of_.size())
      for (std::size_t i = 0; i < cell_of_.size(); ++i) f(cell_of_[i], samples.values[first + i]);
  }
  /// One number per cell: a plain number when the statistic is taken over all dimensions, otherwise
  /// nested lists in the shape of the dimensions that are kept.
  Tree tree(const std::vector<double>& values) const;

 private:
  void check_shape(const Shape& sample) const;

  Shape sample_, kept_;
  bool all_;
  std::size_t size_ = 1;
  std::vector<std::size_t> cell_of_;  ///< by element of a sample; empty for a single cell
};

/// The cells, which the first samples fix for all later ones.
const Cells& cells_for(std::optional<Cells>& cells, const Dims& dims, const Samples& samples);

/// Numbers as nested lists of a shape, row-major.
Tree nested_lists(std::span<const double> values, std::span<const std::int64_t> shape);

}  // namespace mase::passes
