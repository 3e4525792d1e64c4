// SPDX-License-Identifier: Apache-2.0
// Small graphs written by hand, as an importer would build them, with fixed pseudo-random weights.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "ir/graph.hpp"

namespace small_graphs {

using namespace mase;

/// Normal numbers of a seed.
inline Array normal(const Shape& shape, std::uint64_t seed) {
  Array array(DType::float32, shape);
  Random random(seed);
  for (float& value : array.mutable_span<float>()) value = static_cast<float>(random.normal());
  return array;
}

/// Positive numbers, for variances.
inline Array positive(const Shape& shape, std::uint64_t seed) {
  Array array = normal(shape, seed);
  for (float& value : array.mutable_span<float>()) value = value * value + 0.25F;
  return array;
}

/// Appends nodes to a graph; every function returns the new node's id.
class Maker {
 public:
  explicit Maker(std::string root_class) { graph.containers[""] = std::move(root_class); }

  ir::Graph graph;

  ir::NodeId input(const std::string& name, const Shape& shape, DType dtype = DType::float32) {
    ir::Node node;
    node.name = node.target = name;
    node.kind = ir::NodeKind::placeholder;
    node.info = ir::ValueInfo::tensor(dtype, shape);
    return graph.add(std::move(node));
  }

  ir::NodeId call(const std::string& name, const std::string& op, std::vector<ir::Argument> args,
                  ir::ValueInfo info) {
    ir::Node node;
    node.name = name;
    node.kind = ir::NodeKind::call_function;
    node.target = "torch." + name;
    node.op = op;
    node.args = std::move(args);
    node.info = std::move(info);
    return graph.add(std::move(node));
  }

  ir::NodeId attribute(const std::string& path) {
    ir::Node node;
    node.name = ir::node_name_of(path);
    node.target = path;
    node.kind = ir::NodeKind::get_attr;
    const Array& value = graph.tensors.at(path).value;
    node.info = ir::ValueInfo::tensor(value.dtype(), value.shape());
    return graph.add(std::move(node));
  }

  /// A call of a module that is there already or is given.
  ir::NodeId layer(const ir::Module& module, const std::string& argument, ir::NodeId input,
                   const Shape& shape) {
    graph.modules.emplace(module.path, module);
    ir::Node node;
    node.name = ir::node_name_of(module.path);
    node.target = module.path;
    node.kind = ir::NodeKind::call_module;
    node.op = module.op;
    node.args = {{argument, ir::NodeRef{input}}};
    node.info = ir::ValueInfo::tensor(DType::float32, shape);
    return graph.add(std::move(node));
  }

  ir::NodeId linear(const std::string& path, ir::NodeId input, std::int64_t in, std::int64_t out) {
    const Shape rows = graph.node(input).info.shape;
    ir::Module module{path, "torch.nn.modules.linear.Linear", "aten::linear", {}, {}};
    module.tensors = {{"weight", path + ".weight"}, {"bias", path + ".bias"}};
    graph.set_tensor(path + ".weight", {normal({out, in}, in + 17), true, true});
    graph.set_tensor(path + ".bias", {normal({out}, out + 31), true, true});
    Shape shape = rows;
    shape.back() = out;
    return layer(module, "input", input, shape);
  }

  ir::NodeId relu(const std::string& path, ir::NodeId input) {
    const ir::Module module{path, "torch.nn.modules.activation.ReLU", "aten::relu", {}, {}};
    return layer(module, "self", input, graph.node(input).info.shape);
  }

  ir::NodeId conv(const std::string& path, ir::NodeId input, std::int64_t in, std::int64_t out) {
    ir::Module module{path, "torch.nn.modules.conv.Conv2d", "aten::conv2d", {}, {}};
    module.attributes = {{"stride", ir::Value::list({1, 1})}, {"padding", ir::Value::list({1, 1})}};
    module.tensors = {{"weight", path + ".weight"}};
    graph.set_tensor(path + ".weight", {normal({out, in, 3, 3}, 5), true, false});
    Shape shape = graph.node(input).info.shape;
    shape[1] = out;
    return layer(module, "input", input, shape);
  }

  ir::NodeId batch_norm(const std::string& path, ir::NodeId input, std::int64_t channels) {
    ir::Module module{path, "torch.nn.modules.batchnorm.BatchNorm2d", "aten::batch_norm", {}, {}};
    module.attributes = {{"training", ir::TrainingFlag{}},
                         {"momentum", 0.1},
                         {"eps", 1e-5},
                         {"cudnn_enabled", true}};
    for (const char* name : {"weight", "bias", "running_mean", "running_var"})
      module.tensors.emplace_back(name, path + "." + name);
    graph.set_tensor(path + ".weight", {normal({channels}, 1), true, true});
    graph.set_tensor(path + ".bias", {normal({channels}, 2), true, true});
    graph.set_tensor(path + ".running_mean", {normal({channels}, 3), false, false});
    graph.set_tensor(path + ".running_var", {positive({channels}, 4), false, false});
    graph.set_tensor(path + ".num_batches_tracked", {Array(DType::int64, {}), false, false});
    return layer(module, "input", input, graph.node(input).info.shape);
  }

  ir::Graph finish(ir::Value result) {
    ir::Node node;
    node.name = node.target = "output";
    node.kind = ir::NodeKind::output;
    node.args = {{"value", std::move(result)}};
    graph.add(std::move(node));
    return std::move(graph);
  }
};

inline ir::ValueInfo floats(const Shape& shape) {
  return ir::ValueInfo::tensor(DType::float32, shape);
}

/// Linear, ReLU, Linear in a Sequential: numbers and dots in the paths.
inline ir::Graph perceptron() {
  Maker make("nets.Perceptron");
  make.graph.containers["seq.blocks"] = "torch.nn.modules.container.Sequential";
  const auto x = make.input("x", {4, 16});
  const auto first = make.linear("seq.blocks.0", x, 16, 8);
  const auto relu = make.relu("seq.blocks.1", first);
  const auto last = make.linear("seq.blocks.2", relu, 8, 5);
  return make.finish(ir::NodeRef{last});
}

/// Convolution, batch norm and a residual sum.
inline ir::Graph residual() {
  Maker make("nets.Residual");
  const auto x = make.input("x", {2, 3, 8, 8});
  const auto conv = make.conv("conv", x, 3, 3);
  const auto norm = make.batch_norm("bn", conv, 3);
  const auto sum =
      make.call("add", "aten::add.Tensor", {{"self", ir::NodeRef{norm}}, {"other", ir::NodeRef{x}}},
                floats({2, 3, 8, 8}));
  const auto relu =
      make.call("relu", "aten::relu", {{"self", ir::NodeRef{sum}}}, floats({2, 3, 8, 8}));
  return make.finish(ir::NodeRef{relu});
}

/// Two inputs, a chunk, indexing and concatenation; the result is a dict.
inline ir::Graph dict_of_parts() {
  Maker make("nets.Parts");
  const auto a = make.input("a", {4, 6});
  const auto b = make.input("b", {4, 6});
  ir::ValueInfo halves;
  halves.kind = ir::ValueInfo::Kind::list;
  halves.elements = {floats({4, 3}), floats({4, 3})};
  const auto chunk = make.call("chunk", "aten::chunk",
                               {{"self", ir::NodeRef{a}}, {"chunks", 2}, {"dim", 1}}, halves);
  const auto half = make.call("getitem", "mase::getitem",
                              {{"self", ir::NodeRef{chunk}}, {"index", 1}}, floats({4, 3}));
  const auto every = ir::Value::slice({}, {}, {});
  const auto columns = make.call(
      "getitem_1", "mase::getitem",
      {{"self", ir::NodeRef{b}}, {"index", ir::Value::tuple({every, ir::Value::slice(1, 6, 2)})}},
      floats({4, 3}));
  const auto column =
      make.call("getitem_2", "mase::getitem",
                {{"self", ir::NodeRef{b}}, {"index", ir::Value::tuple({every, -1, ir::Value()})}},
                floats({4, 1}));
  const auto cat = make.call(
      "cat", "aten::cat",
      {{"tensors", ir::Value::list({ir::NodeRef{half}, ir::NodeRef{columns}})}, {"dim", 1}},
      floats({4, 6}));
  const auto rows =
      make.call("size", "aten::size.int", {{"self", ir::NodeRef{cat}}, {"dim", 0}}, [] {
        ir::ValueInfo info;
        info.kind = ir::ValueInfo::Kind::integer;
        return info;
      }());
  const auto flat =
      make.call("view", "aten::view",
                {{"self", ir::NodeRef{cat}}, {"size", ir::Value::list({ir::NodeRef{rows}, 2, 3})}},
                floats({4, 2, 3}));
  const auto lifted = make.call("add", "aten::add.Scalar",
                                {{"self", ir::NodeRef{flat}}, {"other", 0.1}}, floats({4, 2, 3}));
  return make.finish(ir::Value::dict(
      {{"flat", ir::NodeRef{lifted}}, {"column", ir::NodeRef{column}}, {"cat", ir::NodeRef{cat}}}));
}

/// One linear layer called twice, a parameter and a buffer used directly; the result is a tuple.
inline ir::Graph shared_layer() {
  Maker make("nets.Shared");
  const auto x = make.input("x", {4, 8});
  make.graph.set_tensor("scale", {normal({8}, 8), true, false});
  const auto first = make.linear("fc", x, 8, 8);
  const auto relu = make.relu("act", first);
  ir::Node again = make.graph.node(first);
  again.args = {{"input", ir::NodeRef{relu}}};
  const auto second = make.graph.add(std::move(again));
  const auto scale = make.attribute("scale");
  const auto product =
      make.call("mul", "aten::mul.Tensor",
                {{"self", ir::NodeRef{second}}, {"other", ir::NodeRef{scale}}}, floats({4, 8}));
  return make.finish(ir::Value::tuple({ir::NodeRef{product}, ir::NodeRef{relu}}));
}

}  // namespace small_graphs
