// SPDX-License-Identifier: Apache-2.0
// Error compensation: rounds the columns of a weight one after another, and changes the columns
// that are not yet rounded so that they compensate the error at the layer's output (GPTQ,
// Frantar et al. 2022, after Optimal Brain Surgeon, Hassibi & Stork 1993).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "formats/format.hpp"

namespace mase::passes {

/// H = X^T X for the rows X [n, columns] that a weight is multiplied with. When a row of the weight
/// changes by D, the squared changes of the layer's outputs add up to D H D^T over the n rows.
class InputProducts {
 public:
  explicit InputProducts(std::int64_t columns);

  /// Adds rows, [n, columns] row-major.
  void add(std::span<const float> rows);
  std::int64_t columns() const { return columns_; }
  std::int64_t rows() const { return rows_; }
  const std::vector<double>& sums() const { return sums_; }  ///< [columns, columns]

 private:
  std::int64_t columns_, rows_ = 0;
  std::vector<double> sums_;
};

/// The squared change of a layer's outputs when `changed` replaces `weight`, summed over all rows
/// that the products were made of. Both weights are [rows, columns]; their rows form as many equal
/// groups as there are products, and group g is multiplied with the inputs of products[g].
double output_error(std::span<const float> weight, std::span<const float> changed,
                    std::span<const InputProducts> products);

/// The weight with every column on the format's grid, and the errors of each column compensated by
/// later ones. Columns are taken by falling energy of their inputs; those without energy keep their
/// values. `damping` is the share of the mean diagonal of H that is added to the diagonal (columns
/// with little energy then change little). Rounding the result again may change it where a block's
/// scale has moved; judge it by the `output_error` of that second rounding.
std::vector<float> compensate(const Array& weight, const formats::Format& format,
                              std::span<const InputProducts> products, double damping);

}  // namespace mase::passes
