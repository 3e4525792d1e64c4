// SPDX-License-Identifier: Apache-2.0
// Statistics that consist of a mean and a variance.
#include "passes/statistics/variance.hpp"

namespace mase::passes {
namespace {

template <class Moments>
Tree moments_tree(const std::optional<Cells>& cells, const Moments& moments) {
  Tree result = Tree::dict();
  const bool enough = moments.count() >= 2;
  result["mean"] = enough ? cells->tree(moments.means()) : Tree("NA");
  result["variance"] = enough ? cells->tree(moments.variances()) : Tree("NA");
  result["count"] = moments.count();
  return result;
}

}  // namespace

void VarianceOnline::add(const Samples& samples) {
  moments_.add(cells_for(cells_, dims, samples), samples, false);
}

Tree VarianceOnline::result() const { return moments_tree(cells_, moments_); }

void VariancePrecise::add(const Samples& samples) {
  moments_.add(cells_for(cells_, dims, samples), samples, false);
}

Tree VariancePrecise::result() const { return moments_tree(cells_, moments_); }

void AbsMean::add(const Samples& samples) {
  moments_.add(cells_for(cells_, dims, samples), samples, true);
}

Tree AbsMean::result() const {
  Tree result = Tree::dict();
  result["abs_mean"] = moments_.count() > 0 ? cells_->tree(moments_.means()) : Tree("NA");
  result["count"] = moments_.count();
  return result;
}

}  // namespace mase::passes
