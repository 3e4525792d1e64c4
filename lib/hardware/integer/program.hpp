// SPDX-License-Identifier: Apache-2.0
// Program: a quantized graph lowered to exact integer steps. It defines what the hardware computes:
// the interpreter executes it, and lib/hardware/design turns every step into instances.
// What flows between steps is described in stream.hpp, what each of them computes in steps/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/integer/fixed.hpp"
#include "hardware/integer/levels.hpp"
#include "hardware/integer/program/codes.hpp"
#include "hardware/integer/program/stream.hpp"
#include "hardware/integer/steps/operation.hpp"
#include "ir/graph.hpp"

namespace mase::integer {

/// One step: operation into an exact accumulator, then requantisation into the output's type.
struct Step {
  /// Graph node; casts and gathers between nodes: "<consumer>_<port>_cast", "..._reorder".
  std::string name;
  std::string layer;  ///< the graph node it belongs to
  std::vector<ValueId> inputs;
  ValueId output = -1;
  Operation operation;
  /// Every accumulator lies in [low, high], partial sums too: derived from the actual weights (or
  /// from all codes of their formats, where they may be replaced) and the input type (the worst
  /// case over all inputs). Lookup and what only moves: the output's range.
  Wide low = 0, high = 0;
  /// Fraction bits of the accumulator; an average counts the powers of two of its divisor as some.
  int frac = 0;
  Requantise requantise;
};

/// Whether the constants of a checkpoint stay, or may be replaced by those of another one.
enum class Contents { fixed, reloadable };

/// A graph as integer steps over streams.
struct Program {
  std::string name;
  Contents contents = Contents::fixed;
  std::vector<StreamValue> values;
  std::vector<Step> steps;                        ///< in execution order
  std::vector<ValueId> inputs;                    ///< in the order of the placeholders
  std::vector<ValueId> outputs;                   ///< in the order of the graph's results
  std::vector<std::string> output_keys;           ///< as ir::Results names them
  std::vector<DType> output_dtypes;               ///< as torch has them: float32, or integers
  std::vector<formats::Rounding> input_rounding;  ///< how floats become codes, per input
  /// The levels that an input is rounded to; null for fixed point.
  std::vector<std::shared_ptr<const Levels>> input_levels;
  /// The format with blocks that an input is rounded to; nullopt for others.
  std::vector<std::optional<formats::Format>> input_blocks;
  /// The least code of an input but that of masks (ir/masks.hpp), which is its type's least one;
  /// nullopt if a mask is a number like any other.
  std::vector<std::optional<std::int64_t>> input_masks;

  const StreamValue& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  std::vector<int> consumers(ValueId id) const;  ///< step indices
};

/// Lowers a quantized graph whose value infos carry shapes. Error(Fault::unsupported) listing every
/// node without a datapath at once, with the passes that would help.
///
/// A requantisation is done as early as it is exact: a consumer's data_in format moves backwards
/// through relu, pooling by maximum, flatten and the like to the step that produces the value, when
/// all consumers agree; otherwise the consumer casts. Results of tables and divisions need such a
/// format (their own data_out, or their consumers' data_in).
///
/// A value that cannot be negative is unsigned, one bit narrower than the format that asked for it.
///
/// With reloadable contents every checkpoint of the same graph and formats gives the same program
/// but for the codes of its weights, biases, scales and shifts. Constant tensors that do not become
/// such codes are refused then, as are those without a format.
Program lower(const ir::Graph& graph, Contents contents = Contents::fixed);
/// Whether nodes of this op can be lowered, given formats and arguments that fit.
bool has_datapath(std::string_view op);
/// Whether it only moves, chooses or clamps values, so that no format on it is needed: a quantizer
/// of its readers acts on what it reads.
bool passes_values_on(std::string_view op);

/// Text of the program, one line per step with types and the accumulator's bound: what
/// `mase show --format program` prints.
std::string program_text(const Program& program);

}  // namespace mase::integer
