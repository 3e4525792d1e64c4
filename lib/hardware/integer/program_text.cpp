// SPDX-License-Identifier: Apache-2.0
// A program as text, one line per step.
#include <algorithm>

#include "base/text.hpp"
#include "hardware/integer/program.hpp"

namespace mase::integer {
namespace {

std::string value_text(const Program& program, ValueId id) {
  const StreamValue& value = program.value(id);
  return "%" + std::to_string(id) + ":" + value.name + " " + type_text(value.type) + " " +
         shape_text(value.shape);
}

std::string requantise_text(const Requantise& requantise) {
  std::string text = ">> " + std::to_string(requantise.shift);
  if (requantise.divisor != 1) text += " / " + std::to_string(requantise.divisor);
  text += requantise.rounding == formats::Rounding::floor ? " floor" : " nearest";
  return text + " [" + wide_text(requantise.low) + ", " + wide_text(requantise.high) + "]";
}

std::string window_text(const Window& window) {
  const auto pair = [](std::int64_t a, std::int64_t b) {
    return std::to_string(a) + "x" + std::to_string(b);
  };
  std::string text =
      pair(window.y.kernel, window.x.kernel) + " stride " + pair(window.y.stride, window.x.stride);
  if (window.y.dilation > 1 || window.x.dilation > 1)
    text += " dilation " + pair(window.y.dilation, window.x.dilation);
  return text + " pad " + pair(window.y.pad, window.x.pad);
}

struct Details {
  std::string operator()(const Linear& linear) const { return type_text(linear.weight_type); }
  std::string operator()(const Convolution& convolution) const {
    return type_text(convolution.weight_type) + " " + window_text(convolution.window) + " groups " +
           std::to_string(convolution.groups);
  }
  std::string operator()(const ScaleShift& scale) const { return type_text(scale.scale_type); }
  std::string operator()(const ChannelShift& shift) const {
    const auto [least, most] = std::ranges::minmax(shift.left);
    return "<< " + std::to_string(least) + " to " + std::to_string(most);
  }
  std::string operator()(const Pool& pool) const { return window_text(pool.window); }
  std::string operator()(const Binary& binary) const {
    return "<< " + std::to_string(binary.shift_a) + ", " + std::to_string(binary.shift_b);
  }
  std::string operator()(const Slice& slice) const {
    return std::to_string(slice.first) + " + " + std::to_string(slice.count) + " of " +
           std::to_string(slice.period);
  }
  std::string operator()(const Lookup& lookup) const {
    return std::to_string(lookup.table.size()) + " entries";
  }
  std::string operator()(const Piecewise& pieces) const {
    return std::to_string(pieces.slope.size()) + " segments, off by at most " +
           fixed_text(pieces.largest_error, 3) + " of the last place";
  }
  std::string operator()(const Cast&) const { return ""; }
  std::string operator()(const Gather& gather) const {
    return std::to_string(gather.places.size()) + " of every " + std::to_string(gather.period);
  }
  std::string operator()(const Concat&) const { return ""; }
  std::string operator()(const ArgMax& argmax) const {
    return "of every " + std::to_string(argmax.row);
  }
  std::string operator()(const MatrixProduct& product) const {
    return std::to_string(product.outputs) + "x" + std::to_string(product.inputs) + " sets " +
           std::to_string(product.sets) + " rows " + std::to_string(product.repeat);
  }
  std::string operator()(const RowReduce& reduce) const {
    return "of every " + std::to_string(reduce.row);
  }
  std::string operator()(const Repeat& repeat) const {
    return std::to_string(repeat.count) + " times";
  }
  std::string operator()(const Insert& insert) const {
    return std::to_string(insert.before) + " before and " + std::to_string(insert.after) +
           " after each of " + std::to_string(insert.rows) + " rows";
  }
  std::string operator()(const Embedding& embedding) const {
    return std::to_string(embedding.rows()) + " rows of " + std::to_string(embedding.columns);
  }
  std::string operator()(const SquareRoot& root) const {
    return "<< " + std::to_string(root.shift) + " + " + std::to_string(root.addend);
  }
  std::string operator()(const Quotient& quotient) const {
    return "<< " + std::to_string(quotient.shift_a) + ", " + std::to_string(quotient.shift_b);
  }
};

std::string step_text(const Program& program, const Step& step) {
  std::vector<std::string> inputs;
  for (const ValueId id : step.inputs) inputs.push_back("%" + std::to_string(id));
  const std::string details = std::visit(Details{}, step.operation);
  return value_text(program, step.output) + " = " + step.name + " " +
         operation_name(step.operation) + "(" + join(inputs, ", ") + ")" +
         (details.empty() ? "" : " " + details) + "; accumulator [" + wide_text(step.low) + ", " +
         wide_text(step.high) + "] " + std::to_string(signed_width(step.low, step.high)) +
         " bits, frac " + std::to_string(step.frac) + "; " + requantise_text(step.requantise);
}

}  // namespace

std::string program_text(const Program& program) {
  std::string text = "program " + quote(program.name) + "\n";
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    text += "  input " + value_text(program, program.inputs[i]) +
            (program.input_rounding[i] == formats::Rounding::floor ? " floor\n" : " nearest\n");
  for (const Step& step : program.steps) text += "  " + step_text(program, step) + "\n";
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    text += "  output " + quote(program.output_keys[i]) + " = %" +
            std::to_string(program.outputs[i]) + "\n";
  return text;
}

}  // namespace mase::integer
