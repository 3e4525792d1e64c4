// SPDX-License-Identifier: Apache-2.0
// The steps' own loops over all frames, with sums as wide as they must be.
#include "hardware/integer/lowering/exact_step.hpp"

#include <algorithm>

namespace mase::integer {
namespace {

/// Where the results of a frame go: codes, or sums that have more than 64 bits.
template <class Sum>
void set_output(Frame<Sum>& frame, std::vector<const std::int64_t*> in, std::int64_t* out) {
  frame.set(std::move(in), out);
}
void set_output(Frame<Wide>& frame, std::vector<const std::int64_t*> in, Wide* out) {
  frame.set(std::move(in), nullptr);
  frame.set_exact(out);
}

template <class Sum, class Code = std::int64_t>
std::vector<Code> run_frames(const Program& program, const Step& step,
                             std::span<const Codes* const> inputs, std::int64_t frames) {
  std::vector<std::int64_t> elements;
  for (const ValueId id : step.inputs) elements.push_back(program.value(id).elements());
  const std::int64_t size = program.value(step.output).elements();
  std::vector<Code> out(at(frames * size));
  Frame<Sum> frame(elements, size, step.requantise, signed_width(step.low, step.high));
  for (std::int64_t f = 0; f < frames; ++f) {
    std::vector<const std::int64_t*> in;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      in.push_back(inputs[i]->data() + f * elements[i]);
    set_output(frame, std::move(in), out.data() + f * size);
    std::visit([&](const auto& operation) { operation.run(frame); }, step.operation);
  }
  return out;
}

/// The bits that hold every number on the way to the accumulator, and the accumulator.
int sum_bits(const Program& program, const Step& step) {
  std::vector<FixedType> inputs;
  for (const ValueId id : step.inputs) inputs.push_back(program.value(id).numbers());
  return std::max(signed_width(step.low, step.high), sum_bits(step.operation, inputs));
}

}  // namespace

Codes run_exactly(const Program& program, const Step& step, std::span<const Codes* const> inputs,
                  std::int64_t frames) {
  if (sum_bits(program, step) <= 63) return run_frames<std::int64_t>(program, step, inputs, frames);
  return run_frames<Wide>(program, step, inputs, frames);
}

std::vector<Wide> run_sums(const Program& program, const Step& step,
                           std::span<const Codes* const> inputs, std::int64_t frames) {
  return run_frames<Wide, Wide>(program, step, inputs, frames);
}

}  // namespace mase::integer
