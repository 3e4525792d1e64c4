// SPDX-License-Identifier: Apache-2.0
// Interpreter: runs a Program on whole batches, exactly; narrow accumulators take vectorised
// kernels.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hardware/integer/program.hpp"
#include "ir/evaluator.hpp"

namespace mase::integer {

namespace kernels {
struct KernelTable;
}

/// Codes of a batch: frames one after another, each in stream order.
class Interpreter {
 public:
  explicit Interpreter(Program program);
  /// With the kernels of one instruction set; the codes are the same for all.
  Interpreter(Program program, const kernels::KernelTable& table);
  ~Interpreter();
  Interpreter(Interpreter&&) noexcept;
  Interpreter& operator=(Interpreter&&) noexcept;

  const Program& program() const;
  /// Another step in the place of step i, with the same inputs and output.
  void set_step(std::size_t i, Step step);
  /// `inputs[i]` holds frames * elements codes of program().inputs[i]. Returns the outputs' codes.
  /// `observe`, when set, sees every step's output codes, but for sums of more than 64 bits.
  std::vector<Codes> run(const std::vector<Codes>& inputs, std::int64_t frames,
                         const std::function<void(ValueId, const Codes&)>& observe = {});

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Quantizes a float batch [frames, ...torch_shape] to codes in stream order, as the first port
/// does. Error(Fault::file) for a number beyond the table from which the input chooses rows.
Codes encode_input(const Program& program, std::size_t input, const Array& batch);
/// The same without this error: numbers beyond a table name its first or last row, as in hardware.
Codes encode_saturated(const Program& program, std::size_t input, const Array& batch);
/// Codes in stream order to [frames, ...torch_shape]: float32, each value rounded once to it, or
/// int64 where the result is integers.
Array decode_output(const Program& program, std::size_t output, const Codes& codes,
                    std::int64_t frames);

/// The same for the codes of any value, as float32.
Array decode_value(const StreamValue& value, const Codes& codes, std::int64_t frames);

/// The graph at Level::integer. The observer sees port "data_out" of every node that a step's
/// result stands for; a node whose work is part of another step (a relu behind a layer) is seen,
/// the layer before it is not.
std::unique_ptr<ir::Evaluator> make_evaluator(const ir::Graph& graph);

}  // namespace mase::integer
