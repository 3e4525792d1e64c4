// SPDX-License-Identifier: Apache-2.0
// Rules of normalizations, tables, losses and the user's own layers.
#include "ir/inference/rules.hpp"

namespace mase::ir {
namespace {

/// Dimension 1 has the channels; `weight` and `running_mean` have a number for each.
Inferred normalized_channels(const Call& call) {
  const ValueInfo input = call.tensor("input");
  for (const char* name : {"weight", "running_mean"}) {
    const auto parameter = call.find(name);
    call.require(
        !parameter || (input.shape.size() > 1 && parameter->shape == Shape{input.shape[1]}),
        "its argument '" + std::string(name) + "' does not have the input's channels");
  }
  return input;
}

Inferred normalized_last_dimensions(const Call& call) {
  const ValueInfo input = call.tensor("input");
  const Call::Integers last = call.integers("normalized_shape");
  const std::size_t rank = input.shape.size();
  call.require(last.size() <= rank && part_of(input.shape, rank - last.size(), rank) == last,
               "the input's last dimensions are not the normalized shape");
  return input;
}

Inferred embedded(const Call& call) {
  const ValueInfo table = call.tensor("weight");
  call.require(!table.shape.empty(), "the table has no rows");
  return ValueInfo::tensor(table.dtype, joined(call.tensor("indices").shape,
                                               part_of(table.shape, 1, table.shape.size())));
}

/// at::Reduction: 0 for none, 1 for the mean, 2 for the sum.
Inferred cross_entropy(const Call& call) {
  const ValueInfo scores = call.input();
  if (call.integer("reduction", 1) != 0) return ValueInfo::tensor(scores.dtype, {});
  Shape shape = scores.shape;
  if (!shape.empty()) shape.erase(shape.begin() + (shape.size() > 1 ? 1 : 0));
  return ValueInfo::tensor(scores.dtype, shape);
}

}  // namespace

std::vector<InferenceRule> layer_rules() {
  return {
      {OpFamily::batch_norm, normalized_channels},
      {OpFamily::instance_norm, normalized_channels},
      {OpFamily::group_norm, same_as_input},
      {OpFamily::layer_norm, normalized_last_dimensions},
      {OpFamily::embedding, embedded},
      {"aten::cross_entropy_loss", cross_entropy},
  };
}

}  // namespace mase::ir
