// SPDX-License-Identifier: Apache-2.0
// StepKernel: how the interpreter runs one step on buffers; a fast form where 32-bit sums are
// proven enough, else the definition.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hardware/integer/program.hpp"
#include "hardware/integer/running/buffer.hpp"
#include "hardware/integer/running/kernels/kernels.hpp"

namespace mase::integer {

/// How one step is run on a batch.
class StepKernel {
 public:
  virtual ~StepKernel() = default;
  virtual void run(const std::vector<const Buffer*>& in, Buffer& out, std::int64_t frames) = 0;
};

/// The fastest kernel for a step; `table` chooses the instruction set.
std::unique_ptr<StepKernel> make_kernel(const Program& program, const Step& step,
                                        const kernels::KernelTable& table);

// The fast forms; null where they do not apply.
std::unique_ptr<StepKernel> make_matrix_kernel(const Program& program, const Step& step,
                                               const kernels::KernelTable& table);
std::unique_ptr<StepKernel> make_channel_kernel(const Program& program, const Step& step,
                                                const kernels::KernelTable& table);

/// The requantisation of a step for 32-bit accumulators; null when they could overflow.
std::optional<kernels::Requantise32> narrow_requantise(const Step& step);
/// Requantises into a buffer from element `first` on.
void requantise_into(const kernels::KernelTable& table, const kernels::Requantise32& requantise,
                     const std::int32_t* accumulators, Buffer& out, std::size_t first,
                     std::size_t count);

}  // namespace mase::integer
