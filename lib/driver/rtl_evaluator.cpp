// SPDX-License-Identifier: Apache-2.0
// Level::rtl runs batches of floats through the emitted hardware.
#include "base/error.hpp"
#include "driver/hardware.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/integer/interpreter.hpp"

namespace mase::driver {
namespace {

class RtlEvaluator final : public ir::Evaluator {
 public:
  explicit RtlEvaluator(Hardware hardware)
      : hardware_(std::move(hardware)), interpreter_(*hardware_.design.program) {}

  ir::Results run(const std::vector<Array>& inputs) override {
    const integer::Program& program = *hardware_.design.program;
    emit::Vectors vectors;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      vectors.inputs.push_back(integer::encode_input(program, i, inputs[i]));
    vectors.frames = inputs.front().shape().front();
    vectors.outputs = interpreter_.run(vectors.inputs, vectors.frames);
    emit::SimulateOptions options;
    options.keep_outputs = true;
    const auto simulation = emit::simulate(hardware_.folder, hardware_.design, vectors, options);
    if (!simulation.passed())
      throw Error(Fault::goal, "the hardware differs from the integer model in " +
                                   std::to_string(simulation.mismatches) +
                                   " beats; mase simulate shows which");
    ir::Results results;
    for (std::size_t o = 0; o < program.outputs.size(); ++o)
      results.emplace_back(
          program.output_keys[o],
          integer::decode_output(program, o, simulation.outputs[o], vectors.frames));
    return results;
  }

  ir::Results run(const std::vector<Array>& inputs, const ir::Observer&) override {
    return run(inputs);
  }

 private:
  Hardware hardware_;
  integer::Interpreter interpreter_;
};

}  // namespace

std::unique_ptr<ir::Evaluator> make_rtl_evaluator(Hardware hardware) {
  return std::make_unique<RtlEvaluator>(std::move(hardware));
}

}  // namespace mase::driver
