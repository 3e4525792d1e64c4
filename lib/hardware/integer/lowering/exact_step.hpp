// SPDX-License-Identifier: Apache-2.0
// Steps by their own loops, which define what kernels and hardware must equal.
#pragma once

#include <span>

#include "hardware/integer/program.hpp"

namespace mase::integer {

/// Runs one step on `frames` frames; `inputs[i]` are the codes of step.inputs[i], numbers
/// where the step decodes its inputs. Sums are made in
/// 64 bits where [step.low, step.high] fits, else in 128.
Codes run_exactly(const Program& program, const Step& step, std::span<const Codes* const> inputs,
                  std::int64_t frames);

/// The same for a step whose results have more than 64 bits: one of those that requantise their
/// sums by Frame::fill or Frame::put.
std::vector<Wide> run_sums(const Program& program, const Step& step,
                           std::span<const Codes* const> inputs, std::int64_t frames);

}  // namespace mase::integer
