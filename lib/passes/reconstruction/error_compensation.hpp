// SPDX-License-Identifier: Apache-2.0
// Error compensation: rounding the columns of a weight one after another, each time moving the
// error that this makes at the layer's output onto the columns that are not rounded yet (GPTQ,
// Frantar et al. 2022, after Optimal Brain Surgeon, Hassibi & Stork 1993).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "formats/format.hpp"

namespace mase::passes {

/// H = X^T X of the rows X [n, columns] that a weight is multiplied with: a change D of a weight's
/// row changes the layer's outputs by D H D^T in all, squared and summed over the n rows.
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

/// The squared change of a layer's outputs, summed over all rows that the products were made of,
/// when `weight` is replaced by `changed`; both [rows, columns]. Group g of the rows, of as many
/// equal ones as there are products, is multiplied with the inputs of products[g].
double output_error(std::span<const float> weight, std::span<const float> changed,
                    std::span<const InputProducts> products);

/// The weight with every column on the format's grid and its errors compensated by later columns,
/// which are taken by falling energy of their inputs. `damping`: share of the mean diagonal of H
/// that is added to it (columns with little energy then change little). Rounded anew by the format,
/// the result may differ from itself where a block's scale moved; `output_error` of that is what
/// counts. Columns without energy keep their values.
std::vector<float> compensate(const Array& weight, const formats::Format& format,
                              std::span<const InputProducts> products, double damping);

}  // namespace mase::passes
