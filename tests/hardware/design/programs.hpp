// SPDX-License-Identifier: Apache-2.0
// Small programs for the tests, written step by step as `lower` would make them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hardware/design/design.hpp"
#include "hardware/integer/program.hpp"

namespace mase::test {

using integer::FixedType;
using integer::Program;
using integer::Step;
using integer::ValueId;
using integer::Wide;

/// A dimension of as many windows as fit.
inline integer::Axis slid(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                          std::int64_t pad) {
  return {size, kernel, stride, 1, pad, (size + 2 * pad - kernel) / stride + 1};
}

/// A square window over a square image.
inline integer::Window square(std::int64_t size, std::int64_t channels, std::int64_t kernel,
                              std::int64_t stride = 1, std::int64_t pad = 0) {
  const integer::Axis axis = slid(size, kernel, stride, pad);
  return {axis, axis, channels};
}

/// Adds values and steps one after another; every step's accumulator is as wide as asked for.
class ProgramMaker {
 public:
  ValueId input(std::string name, Shape shape, FixedType type = {8, 4, true}) {
    const ValueId id = value(std::move(name), std::move(shape), type);
    program_.inputs.push_back(id);
    program_.input_rounding.push_back(formats::Rounding::nearest_even);
    program_.input_levels.emplace_back();
    program_.input_blocks.emplace_back();
    program_.input_masks.emplace_back();
    return id;
  }

  ValueId step(std::string name, integer::Operation operation, std::vector<ValueId> inputs,
               Shape shape, FixedType type = {8, 4, true}, Wide low = -128, Wide high = 127) {
    Step step;
    step.name = step.layer = name;
    step.operation = std::move(operation);
    step.inputs = std::move(inputs);
    step.low = low;
    step.high = high;
    step.frac = type.frac;
    step.requantise = {0, 1, formats::Rounding::nearest_even, type.low(), type.high()};
    step.output = value(std::move(name), std::move(shape), type);
    program_.steps.push_back(step);
    return step.output;
  }

  /// y = w x + b with weights 0, 1, 2, ... modulo 7 less 3, in rows of `inputs`.
  ValueId linear(std::string name, ValueId from, std::int64_t inputs, std::int64_t outputs,
                 bool bias = true) {
    integer::Linear linear{inputs, outputs, {4, 2, true}, {}, {}};
    for (std::int64_t i = 0; i < inputs * outputs; ++i) linear.weight.push_back(i % 7 - 3);
    for (std::int64_t o = 0; bias && o < outputs; ++o) linear.bias.push_back(o % 5 - 2);
    Shape shape = program_.value(from).shape;
    const std::int64_t rows = program_.value(from).elements() / inputs;
    shape = rows == 1 ? Shape{outputs} : Shape{rows, outputs};
    return step(std::move(name), std::move(linear), {from}, shape, {8, 4, true}, -5000, 5000);
  }

  ValueId convolution(std::string name, ValueId from, integer::Window window, std::int64_t outputs,
                      std::int64_t groups = 1) {
    integer::Convolution conv{window, outputs, groups, {4, 2, true}, {}, {}};
    const std::int64_t count = outputs * window.kernel() * window.channels / groups;
    for (std::int64_t i = 0; i < count; ++i) conv.weight.push_back(i % 7 - 3);
    return step(std::move(name), std::move(conv), {from}, {window.y.out, window.x.out, outputs},
                {8, 4, true}, -5000, 5000);
  }

  ValueId add(std::string name, ValueId a, ValueId b) {
    return step(std::move(name), integer::Binary{}, {a, b}, program_.value(a).shape, {8, 4, true},
                -256, 254);
  }

  void output(ValueId id) {
    program_.outputs.push_back(id);
    program_.output_keys.push_back(program_.value(id).name);
    program_.output_dtypes.push_back(DType::float32);
  }

  Program& program() { return program_; }
  std::shared_ptr<const Program> share() const { return std::make_shared<Program>(program_); }

 private:
  ValueId value(std::string name, Shape shape, FixedType type) {
    program_.values.push_back({std::move(name), type, shape, shape, {}});
    return static_cast<ValueId>(program_.values.size() - 1);
  }

  Program program_;
};

inline const design::Instance* find_instance(const design::Design& design,
                                             const std::string& name) {
  for (const design::Instance& instance : design.instances)
    if (instance.name == name) return &instance;
  return nullptr;
}

/// "x -> fc1:linear -> y": instances in order with their modules, for comparing whole structures.
inline std::vector<std::string> structure(const design::Design& design) {
  std::vector<std::string> lines;
  for (const design::Instance& instance : design.instances) {
    std::string line = instance.name + ":" + instance.module.name() + "(";
    for (std::size_t i = 0; i < instance.inputs.size(); ++i)
      line += (i ? "," : "") + design.stream(instance.inputs[i]).name;
    line += ")->";
    for (std::size_t i = 0; i < instance.outputs.size(); ++i)
      line += (i ? "," : "") + design.stream(instance.outputs[i]).name;
    lines.push_back(line);
  }
  return lines;
}

}  // namespace mase::test
