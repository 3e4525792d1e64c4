// SPDX-License-Identifier: Apache-2.0
// Growing graphs and comparing them with the reference.
#include "sketch.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "hardware/integer/interpreter.hpp"
#include "hardware/integer/running/kernels/kernels.hpp"
#include "ir/op_table.hpp"
#include "reference.hpp"

namespace mase::test {

using ir::NodeId;
using ir::NodeRef;
using ir::Value;

Value list(const Shape& values) {
  Value::List items;
  for (const std::int64_t value : values) items.emplace_back(value);
  return Value::list(std::move(items));
}

ir::NodeId Sketch::add(ir::Node node, const Formats& formats) {
  for (const auto& [port, text] : formats) node.formats.emplace(port, formats::parse_format(text));
  const auto data = node.formats.find("data_in");
  for (const ir::Port& port : ir::ports(graph, node))
    if (port.name == "data_in_1" && data != node.formats.end())
      node.formats.emplace(port.name, data->second);
  return graph.add(std::move(node));
}

NodeId Sketch::input(const Shape& shape, const Formats& formats) {
  ir::Node node;
  node.kind = ir::NodeKind::placeholder;
  node.name = node.target = "x" + std::to_string(count_++);
  node.info = ir::ValueInfo::tensor(DType::float32, shape);
  return add(std::move(node), formats);
}

NodeId Sketch::call(const std::string& op, std::vector<ir::Argument> args, const Shape& shape,
                    const Formats& formats) {
  return call(op, std::move(args), ir::ValueInfo::tensor(DType::float32, shape), formats);
}

NodeId Sketch::call(const std::string& op, std::vector<ir::Argument> args,
                    const ir::ValueInfo& info, const Formats& formats) {
  ir::Node node;
  node.kind = ir::NodeKind::call_function;
  node.name = op.substr(op.find("::") + 2) + std::to_string(count_++);
  node.target = "torch.f";
  node.op = op;
  node.args = std::move(args);
  node.info = info;
  return add(std::move(node), formats);
}

Array Sketch::random_array(const Shape& shape, double scale) {
  Array array(DType::float32, shape);
  for (float& value : array.mutable_span<float>())
    value = static_cast<float>(random_.uniform(-scale, scale));
  return array;
}

NodeId Sketch::layer(const std::string& class_name, const std::string& op, NodeId x,
                     std::vector<ir::Argument> attributes,
                     const std::vector<std::pair<std::string, Shape>>& tensors, const Shape& shape,
                     const Formats& formats, double scale) {
  ir::Module module;
  module.path = "layer" + std::to_string(count_++);
  module.class_name = "torch.nn.modules." + class_name;
  module.op = op;
  module.attributes = std::move(attributes);
  for (const auto& [argument, size] : tensors) {
    const std::string path = module.path + "." + argument;
    module.tensors.emplace_back(argument, path);
    graph.set_tensor(path, {random_array(size, scale), true, true});
  }
  ir::Node node;
  node.kind = ir::NodeKind::call_module;
  node.name = node.target = module.path;
  node.op = op;
  const bool elementwise = tensors.empty() || op == "aten::prelu";
  node.args = {{elementwise ? "self" : "input", Value(NodeRef{x})}};
  node.info = ir::ValueInfo::tensor(DType::float32, shape);
  graph.modules[module.path] = std::move(module);
  return add(std::move(node), formats);
}

NodeId Sketch::parameter(const Shape& shape, double scale, const Formats& formats) {
  ir::Node node;
  node.kind = ir::NodeKind::get_attr;
  node.name = node.target = "p" + std::to_string(count_++);
  node.info = ir::ValueInfo::tensor(DType::float32, shape);
  graph.set_tensor(node.target, {random_array(shape, scale), true, true});
  return add(std::move(node), formats);
}

NodeId Sketch::constants(const std::vector<float>& values, const Shape& shape) {
  const NodeId id = parameter(shape, 1);
  graph.tensors.at(graph.node(id).target).value = Array::from<float>(values, shape);
  return id;
}

NodeId Sketch::indices(const std::vector<std::int64_t>& values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  const NodeId id = parameter(shape, 1);
  graph.tensors.at(graph.node(id).target).value = Array::from<std::int64_t>(values, shape);
  graph.node(id).info.dtype = DType::int64;
  return id;
}

NodeId Sketch::linear(NodeId x, std::int64_t outputs, const Formats& formats, double scale,
                      bool bias) {
  Shape out = shape(x);
  std::vector<std::pair<std::string, Shape>> tensors{{"weight", {outputs, out.back()}}};
  if (bias) tensors.push_back({"bias", {outputs}});
  out.back() = outputs;
  return layer("linear.Linear", "aten::linear", x, {}, tensors, out, formats, scale);
}

NodeId Sketch::relu(NodeId x, const Formats& formats) {
  return call("aten::relu", {{"self", Value(NodeRef{x})}}, shape(x), formats);
}

ir::Graph Sketch::finish(NodeId result) { return finish(Value(NodeRef{result})); }

ir::Graph Sketch::finish(const Value& result) {
  ir::Node node;
  node.kind = ir::NodeKind::output;
  node.name = node.target = "output";
  node.args = {{"value", result}};
  graph.add(std::move(node));
  return std::move(graph);
}

Array random_batch(const Shape& shape, double scale, std::uint64_t seed) {
  Random random(seed);
  Array array(DType::float32, shape);
  for (float& value : array.mutable_span<float>()) {
    const double number = random.uniform(-scale, scale);
    value = static_cast<float>(random.below(3) == 0 ? std::round(number / scale * 64) * scale / 64
                                                    : number);
  }
  return array;
}

namespace {

/// All numbers huge with random signs: every code is an extreme one.
Array extreme_batch(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  Array array(DType::float32, shape);
  for (float& value : array.mutable_span<float>()) value = random.below(2) == 0 ? 1e30F : -1e30F;
  return array;
}

Array batch_of_groups(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  Array array(DType::float32, shape);
  std::size_t place = 0, kind = 0;
  int exponent = 0;
  for (float& value : array.mutable_span<float>()) {
    const bool first = place++ % 4 == 0;
    if (first) {
      kind = random.below(6);
      exponent = static_cast<int>(random.below(49)) - 24;
    }
    const auto number = static_cast<float>(random.uniform(-1, 1));
    const float sign = random.below(2) == 0 ? 1 : -1;
    const float far = first ? 1 : 0x1p-9F, last = first ? 0x1.fffffep127F : 0;
    const float kinds[] = {number, 0, number * far, sign * last, sign, sign * 0x1.fcp0F};
    value = kind == 3 ? kinds[kind] : std::ldexp(kinds[kind], exponent);
  }
  return array;
}

std::vector<integer::Interpreter> all_interpreters(const integer::Program& program) {
  std::vector<integer::Interpreter> interpreters;
  for (const integer::kernels::KernelTable* table : integer::kernels::available_tables())
    interpreters.emplace_back(program, *table);
  return interpreters;
}

void compare(const ir::Graph& graph, std::vector<integer::Interpreter>& interpreters,
             const std::vector<Array>& inputs) {
  const integer::Program& program = interpreters[0].program();
  const std::int64_t frames = inputs[0].shape()[0];
  std::vector<integer::Codes> codes;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    codes.push_back(integer::encode_saturated(program, i, inputs[i]));
  const auto outputs = interpreters[0].run(codes, frames);
  for (integer::Interpreter& other : interpreters) CHECK(other.run(codes, frames) == outputs);
  const auto expected = evaluate(graph, inputs);
  REQUIRE(outputs.size() == expected.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const integer::StreamValue& value = program.value(program.outputs[i]);
    const auto size = static_cast<std::size_t>(value.elements());
    REQUIRE(outputs[i].size() == expected[i].values.size());
    Real scale = 1;
    for (int f = 0; f < value.type.frac; ++f) scale *= 2;
    for (int f = 0; f > value.type.frac; --f) scale /= 2;
    int wrong = 0;
    for (std::size_t j = 0; j < outputs[i].size(); ++j) {
      const std::size_t place =
          value.order.empty() ? j : j - j % size + static_cast<std::size_t>(value.order[j % size]);
      if (static_cast<Real>(outputs[i][j]) != expected[i].values[place] * scale) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

/// What lib/hardware/design relies on: results fit their types, moves keep the type, shifts follow
/// the fractions.
void check_structure(const integer::Program& program) {
  for (const integer::Step& step : program.steps) {
    INFO(step.name);
    const integer::FixedType& type = program.value(step.output).type;
    CHECK((step.requantise.low >= type.low() && step.requantise.high <= type.high()));
    CHECK(step.requantise.low <= step.requantise.high);
    const bool moves = integer::only_moves(step.operation);
    for (const integer::ValueId id : step.inputs) {
      if (moves) CHECK(program.value(id).type == type);
    }
    // Equal but for shifts beyond the accumulator's width, which are cut.
    CHECK(step.requantise.shift <= step.frac - type.frac);
  }
}

}  // namespace

void check_groups_against_reference(const ir::Graph& graph, std::uint64_t seed) {
  const integer::Program program = integer::lower(graph);
  INFO(integer::program_text(program));
  std::vector<integer::Interpreter> interpreters = all_interpreters(program);
  std::vector<Array> inputs;
  for (const NodeId id : graph.placeholders()) {
    Shape shape = graph.node(id).info.shape;
    shape[0] = 5;
    inputs.push_back(batch_of_groups(shape, seed++));
  }
  compare(graph, interpreters, inputs);
}

void check_against_reference(const ir::Graph& graph, double scale, std::uint64_t seed) {
  const integer::Program program = integer::lower(graph);
  INFO(integer::program_text(program));
  check_structure(program);
  std::vector<integer::Interpreter> interpreters = all_interpreters(program);
  for (const std::int64_t frames : {std::int64_t{1}, std::int64_t{3}}) {
    std::vector<Array> random, extreme;
    for (const NodeId id : graph.placeholders()) {
      Shape shape = graph.node(id).info.shape;
      shape[0] = frames;
      random.push_back(random_batch(shape, scale, seed++));
      extreme.push_back(extreme_batch(shape, seed++));
    }
    compare(graph, interpreters, random);
    compare(graph, interpreters, extreme);
  }
}

}  // namespace mase::test
