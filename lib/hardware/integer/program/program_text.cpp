// SPDX-License-Identifier: Apache-2.0
// A program as text, one line per step.
#include "base/text.hpp"
#include "hardware/integer/program.hpp"

namespace mase::integer {
namespace {

std::string value_text(const Program& program, ValueId id) {
  const StreamValue& value = program.value(id);
  const std::string format = value.code ? " codes of " + value.levels->format : "";
  return "%" + std::to_string(id) + ":" + value.name + " " + type_text(value.type) + format + " " +
         shape_text(value.shape);
}

std::string rounding_text(formats::Rounding rounding) {
  if (rounding == formats::Rounding::floor) return " floor";
  return rounding == formats::Rounding::nearest_away ? " nearest_away" : " nearest";
}

std::string requantise_text(const Requantise& requantise) {
  std::string text = ">> " + std::to_string(requantise.shift);
  if (requantise.divisor != 1) text += " / " + std::to_string(requantise.divisor);
  text += rounding_text(requantise.rounding);
  return text + " [" + wide_text(requantise.low) + ", " + wide_text(requantise.high) + "]";
}

std::string step_text(const Program& program, const Step& step) {
  std::vector<std::string> inputs;
  for (const ValueId id : step.inputs) inputs.push_back("%" + std::to_string(id));
  const std::string details = operation_details(step.operation);
  return value_text(program, step.output) + " = " + step.name + " " +
         operation_name(step.operation) + "(" + join(inputs, ", ") + ")" +
         (details.empty() ? "" : " " + details) + "; accumulator [" + wide_text(step.low) + ", " +
         wide_text(step.high) + "] " + std::to_string(signed_width(step.low, step.high)) +
         " bits, frac " + std::to_string(step.frac) + "; " + requantise_text(step.requantise);
}

/// What the host multiplies numbers by.
std::string scales_text(const StreamValue& value) {
  std::vector<std::string> scales;
  for (const double scale : value.scales) scales.push_back(double_text(scale));
  return scales.empty() ? "" : " times " + join(scales, ", ");
}

/// How floats become codes of an input.
std::string input_text(const Program& program, std::size_t input) {
  if (program.input_levels[input]) return " in " + program.input_levels[input]->format;
  if (program.input_blocks[input]) return " in " + program.input_blocks[input]->text();
  return rounding_text(program.input_rounding[input]);
}

}  // namespace

std::string program_text(const Program& program) {
  std::string text = "program " + quote(program.name) + "\n";
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    text += "  input " + value_text(program, program.inputs[i]) + input_text(program, i) +
            scales_text(program.value(program.inputs[i])) + "\n";
  for (const Step& step : program.steps) text += "  " + step_text(program, step) + "\n";
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    text += "  output " + quote(program.output_keys[i]) + " = %" +
            std::to_string(program.outputs[i]) + scales_text(program.value(program.outputs[i])) +
            "\n";
  return text;
}

}  // namespace mase::integer
