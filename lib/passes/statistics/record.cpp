// SPDX-License-Identifier: Apache-2.0
// Keeps all values.
#include "passes/statistics/record.hpp"

namespace mase::passes {

void Record::add(const Samples& samples) {
  if (count_ > 0 && samples.shape != sample_)
    config_error("record joins samples of one shape, and has seen " + shape_text(sample_) +
                 " and " + shape_text(samples.shape));
  sample_ = samples.shape;
  count_ += samples.count;
  values_.insert(values_.end(), samples.values.begin(), samples.values.end());
}

Tree Record::result() const {
  Shape shape = sample_;
  if (add_new_dim_before_concat || shape.empty())
    shape.insert(shape.begin(), count_);
  else
    shape[0] *= count_;
  Tree result = Tree::dict();
  result["data"] = nested_lists(values_, shape);
  result["count"] = count_;
  result["size_in_bytes"] = values_.size() * sizeof(float);
  return result;
}

}  // namespace mase::passes
