// SPDX-License-Identifier: Apache-2.0
// Running a program: frames in portions that stay in the caches, each value in its storage.
#include "hardware/integer/interpreter.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hardware/integer/running/step_kernel.hpp"

namespace mase::integer {
namespace {

/// Codes of the largest value that a portion of frames should have: 64 KiB of 16-bit codes, so that
/// a step finds its input in the second-level cache.
constexpr std::int64_t portion_codes = std::int64_t{1} << 15;

}  // namespace

struct Interpreter::Implementation {
  Program program;
  const kernels::KernelTable& table;
  std::vector<std::unique_ptr<StepKernel>> kernels;  ///< one per step
  std::vector<Buffer> buffers;                       ///< one per value
  std::int64_t portion = 1;                          ///< frames

  Implementation(Program lowered, const kernels::KernelTable& chosen)
      : program(std::move(lowered)), table(chosen) {
    std::int64_t largest = 1;
    for (const StreamValue& value : program.values) {
      buffers.emplace_back(storage_for(value.type));
      largest = std::max(largest, value.elements());
    }
    portion = std::max<std::int64_t>(1, portion_codes / largest);
    for (const Step& step : program.steps) kernels.push_back(make_kernel(program, step, table));
  }

  Buffer& buffer(ValueId id) { return buffers[at(id)]; }

  void set_inputs(const std::vector<Codes>& inputs, std::int64_t first, std::int64_t frames) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const StreamValue& value = program.value(program.inputs[i]);
      const std::span codes =
          std::span(inputs[i]).subspan(at(first * value.elements()), at(frames * value.elements()));
      const auto low = static_cast<std::int64_t>(value.type.low());
      const auto high = static_cast<std::int64_t>(value.type.high());
      bool inside = true;
      for (const std::int64_t code : codes) inside = inside && code >= low && code <= high;
      MASE_CHECK(inside, "input '" + value.name + "' has a code beyond " + type_text(value.type));
      buffer(program.inputs[i]).set(codes);
    }
  }

  void run_step(std::size_t i, std::int64_t frames) {
    const Step& step = program.steps[i];
    std::vector<const Buffer*> in;
    for (const ValueId id : step.inputs) in.push_back(&buffer(id));
    Buffer& out = buffer(step.output);
    out.resize(at(frames * program.value(step.output).elements()));
    kernels[i]->run(in, out, frames);
  }
};

Interpreter::Interpreter(Program program)
    : Interpreter(std::move(program), kernels::kernel_tables(simd::best_isa())) {}
Interpreter::Interpreter(Program program, const kernels::KernelTable& table)
    : implementation_(std::make_unique<Implementation>(std::move(program), table)) {}
Interpreter::~Interpreter() = default;
Interpreter::Interpreter(Interpreter&&) noexcept = default;
Interpreter& Interpreter::operator=(Interpreter&&) noexcept = default;

const Program& Interpreter::program() const { return implementation_->program; }

void Interpreter::set_step(std::size_t i, Step step) {
  Implementation& self = *implementation_;
  self.program.steps[i] = std::move(step);
  self.kernels[i] = make_kernel(self.program, self.program.steps[i], self.table);
}

std::vector<Codes> Interpreter::run(const std::vector<Codes>& inputs, std::int64_t frames,
                                    const std::function<void(ValueId, const Codes&)>& observe) {
  Implementation& self = *implementation_;
  MASE_CHECK(inputs.size() == self.program.inputs.size(), "inputs of the program are missing");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    MASE_CHECK(static_cast<std::int64_t>(inputs[i].size()) ==
                   frames * self.program.value(self.program.inputs[i]).elements(),
               "codes and frames of an input differ");
  std::vector<Codes> results(self.program.outputs.size());
  // An observer sees all frames of a value at once.
  const std::int64_t portion = observe ? std::max<std::int64_t>(frames, 1) : self.portion;
  for (std::int64_t first = 0; first < frames; first += portion) {
    const std::int64_t count = std::min(portion, frames - first);
    self.set_inputs(inputs, first, count);
    for (std::size_t i = 0; i < self.program.steps.size(); ++i) {
      self.run_step(i, count);
      const Buffer& made = self.buffer(self.program.steps[i].output);
      if (!observe || made.storage() == Storage::exact) continue;
      Codes seen;
      made.append_to(seen);
      observe(self.program.steps[i].output, seen);
    }
    for (std::size_t i = 0; i < results.size(); ++i)
      self.buffer(self.program.outputs[i]).append_to(results[i]);
  }
  return results;
}

}  // namespace mase::integer
