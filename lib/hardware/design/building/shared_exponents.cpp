// SPDX-License-Identifier: Apache-2.0
// Beats of elements and the exponents of their blocks, joined.
#include "hardware/design/building/shared_exponents.hpp"

#include "hardware/design/modules/block_join.hpp"
#include "hardware/design/modules/repeat.hpp"

namespace mase::design {

StreamId with_exponents(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const integer::BlockInput blocks = integer::blocks_of(builder.step.operation);
  const Stream elements = builder.stream(inputs[0]), exponents = builder.stream(inputs[1]);
  const std::int64_t beats = blocks.length / elements.lanes;
  StreamId repeated = inputs[1];
  if (beats > 1)
    repeated = builder.add(RepeatModule{exponents.type.width, beats, 1}, "_exponents", {inputs[1]},
                           {builder.name() + "_exponents", 1, exponents.type, elements.beats()});
  const BlockJoinModule join{elements.width(), exponents.type.width};
  const integer::FixedType word{static_cast<int>(elements.width()) + exponents.type.width, 0,
                                false};
  return builder.add(join, "_join", {inputs[0], repeated},
                     {builder.name() + "_join", 1, word, elements.beats()});
}

}  // namespace mase::design
