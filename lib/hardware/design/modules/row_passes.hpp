// SPDX-License-Identifier: Apache-2.0
// Rows of a folded product, as linear and matmul take them: the beats come in during the first of
// several passes over a row, are kept in hw_templates/matrix/mase_replay, and read back by the
// others.
#pragma once

#include <cstdint>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/products.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {

/// Steps of a folded product: the passes over the steps of a row, in the first of which its beats
/// come in. What ends a pass enters the pipeline.
class RowSteps {
 public:
  RowSteps(std::int64_t columns, std::int64_t passes) : columns_(columns), passes_(passes) {}
  bool waits() const { return pass_ == 0; }  ///< for beats
  bool ends_pass() const { return column_ == columns_ - 1; }
  bool step();  ///< whether it was the row's last one
  /// As those of a handshake model, with the pipeline behind: up to the end of a pass.
  std::int64_t quiet(const Pipe& pipe) const;
  void skip(std::int64_t edges) {
    if (!waits()) column_ += edges;
  }
  bool operator==(const RowSteps&) const = default;

 private:
  std::int64_t columns_, passes_;
  std::int64_t column_ = 0, pass_ = 0;
};

/// What gives the operands of steps: a row of `columns` beats of so many bits, in each of `passes`.
Cost row_passes_cost(std::int64_t beat, std::int64_t columns, std::int64_t passes);

/// Adds the paths of what keeps the beats of a row for `passes`.
void add_row_paths(Paths& paths, const SumsOfProducts& sums, const ProductShape& shape,
                   std::int64_t passes, const Technology& technology);

}  // namespace mase::design
