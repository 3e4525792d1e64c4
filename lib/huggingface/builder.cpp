// SPDX-License-Identifier: Apache-2.0
// Nodes of functions and methods, as torch.fx names them.
#include "huggingface/builder.hpp"

#include "base/error.hpp"
#include "ir/inference.hpp"

namespace mase::huggingface {
namespace {

using ir::NodeKind;

/// Numbers of PyTorch's types of elements (c10/core/ScalarType.h).
std::int64_t scalar_type(DType dtype) {
  switch (dtype) {
    case DType::int32:
      return 3;
    case DType::int64:
      return 4;
    case DType::float32:
      return 6;
    case DType::boolean:
      return 11;
    default:
      MASE_CHECK(false, "a model converts to another type of elements");
  }
}

Ref list_of(std::vector<Ref> items) { return Ref::list(std::move(items)); }

std::string overload(const Ref& y) { return y.is_node() ? ".Tensor" : ".Scalar"; }

}  // namespace

Builder::Builder(const Config& config, Weights& weights,
                 const std::map<std::string, Array>& examples, const std::string& name,
                 const std::string& classes)
    : config_(config), weights_(weights), examples_(examples), classes_(classes) {
  graph_.name = name;
  container("", name);
}

Ref Builder::input(const std::string& name, DType dtype, const Shape& usual) {
  const auto given = examples_.find(name);
  const bool fits = given == examples_.end() || given->second.shape().size() == usual.size();
  if (!fits)
    config_error("the input '" + name + "' has the shape " + shape_text(given->second.shape()) +
                 "; it takes " + std::to_string(usual.size()) + " dimensions, such as " +
                 shape_text(usual));
  ir::Node node;
  node.kind = NodeKind::placeholder;
  node.name = node.target = name;
  node.info =
      ir::ValueInfo::tensor(dtype, given == examples_.end() ? usual : given->second.shape());
  return add_node(std::move(node));
}

ir::Graph Builder::finish(const std::vector<Ref>& results) {
  ir::Node node;
  node.kind = NodeKind::output;
  node.name = node.target = "output";
  node.args = {{"value", results.size() == 1 ? results[0] : Ref::tuple(results)}};
  add_node(std::move(node));
  weights_.check();
  const ir::NodeId unknown = ir::infer_all(graph_);
  if (unknown != ir::no_node)
    unsupported_error("node '" + graph_.node(unknown).name + "' (" + graph_.node(unknown).op +
                      "): its shape cannot be inferred");
  return std::move(graph_);
}

void Builder::container(const std::string& path, const std::string& own_class) {
  foreign(path, classes_ + "." + own_class);
}

void Builder::foreign(const std::string& path, const std::string& class_name) {
  graph_.containers[path] = class_name;
}

void Builder::list(const std::string& path) {
  foreign(path, "torch.nn.modules.container.ModuleList");
}

Ref Builder::add_node(ir::Node node) { return ir::NodeRef{graph_.add(std::move(node))}; }

Ref Builder::call(NodeKind kind, const std::string& target, const std::string& op, Arguments args) {
  ir::Node node;
  node.kind = kind;
  node.target = target;
  node.op = op;
  node.args = std::move(args);
  return add_node(std::move(node));
}

Ref Builder::function(const std::string& target, const std::string& op, Arguments args) {
  return call(NodeKind::call_function, target, op, std::move(args));
}

Ref Builder::method(const std::string& name, const std::string& op, Arguments args) {
  return call(NodeKind::call_method, name, op, std::move(args));
}

Ref Builder::size(const Ref& x, int dim) {
  return method("size", "aten::size.int", {{"self", x}, {"dim", dim}});
}

Ref Builder::binary(const std::string& name, const Ref& x, const Ref& y) {
  const std::string op = name == "and_" ? "__and__" : name == "truediv" ? "div" : name;
  return function("_operator." + name, "aten::" + op + overload(y), {{"self", x}, {"other", y}});
}

Ref Builder::host(const std::string& name, const Ref& a, const Ref& b) {
  return function("_operator." + name, "aten::" + name + ".int", {{"a", a}, {"b", b}});
}

Ref Builder::power(const Ref& x, const Ref& exponent) {
  return function("_operator.pow", "aten::pow.Tensor_Scalar",
                  {{"self", x}, {"exponent", exponent}});
}

Ref Builder::unary(const std::string& name, const Ref& x) {
  return function("torch." + name, "aten::" + name, {{"self", x}});
}

Ref Builder::view(const Ref& x, std::vector<Ref> sizes) {
  return method("view", "aten::view", {{"self", x}, {"size", list_of(std::move(sizes))}});
}

Ref Builder::reshape(const Ref& x, std::vector<Ref> sizes) {
  return method("reshape", "aten::reshape", {{"self", x}, {"shape", list_of(std::move(sizes))}});
}

Ref Builder::expand(const Ref& x, std::vector<Ref> sizes) {
  return method("expand", "aten::expand", {{"self", x}, {"size", list_of(std::move(sizes))}});
}

Ref Builder::transpose(const Ref& x, int first, int second) {
  return method("transpose", "aten::transpose.int",
                {{"self", x}, {"dim0", first}, {"dim1", second}});
}

Ref Builder::unsqueeze(const Ref& x, int dim) {
  return method("unsqueeze", "aten::unsqueeze", {{"self", x}, {"dim", dim}});
}

Ref Builder::contiguous(const Ref& x) {
  return method("contiguous", "aten::contiguous", {{"self", x}});
}

Ref Builder::cat(std::vector<Ref> parts, int dim) {
  return function("torch.cat", "aten::cat", {{"tensors", list_of(std::move(parts))}, {"dim", dim}});
}

Ref Builder::item(const Ref& x, std::vector<Ref> index) {
  return function("_operator.getitem", "mase::getitem",
                  {{"value", x}, {"index", Ref::tuple(std::move(index))}});
}

Ref Builder::part(const Ref& tuple, int index) {
  return function("_operator.getitem", "mase::getitem", {{"value", tuple}, {"index", index}});
}

Ref Builder::arange(const Ref& end) {
  return function("torch.arange", "aten::arange",
                  {{"end", end}, {"device", "cpu"}, {"pin_memory", false}});
}

Ref Builder::arange(const Ref& end, DType dtype) {
  return function(
      "torch.arange", "aten::arange",
      {{"end", end}, {"dtype", scalar_type(dtype)}, {"device", "cpu"}, {"pin_memory", false}});
}

Ref Builder::to(const Ref& x, DType dtype) {
  return method("to", "aten::to.dtype", {{"self", x}, {"dtype", scalar_type(dtype)}});
}

Ref Builder::to_device(const Ref& x, DType dtype) {
  return method("to", "aten::to.device",
                {{"self", x}, {"device", "cpu"}, {"dtype", scalar_type(dtype)}});
}

Ref Builder::to_layout(const Ref& x, DType dtype) {
  return method("to", "aten::to.dtype_layout",
                {{"self", x}, {"dtype", scalar_type(dtype)}, {"layout", 0}, {"device", "cpu"}});
}

Ref Builder::dropped(const Ref& x, double rate) {
  return function("torch.nn.functional.dropout", "aten::dropout",
                  {{"input", x}, {"p", rate}, {"train", ir::TrainingFlag{}}});
}

Ref Builder::attend(const Attention& attention) {
  const auto matmul = [&](const Ref& x, const Ref& y) {
    return function("torch.matmul", "aten::matmul", {{"self", x}, {"other", y}});
  };
  const auto [first, second] = attention.transposed;
  Ref scores = matmul(attention.query, transpose(attention.key, first, second));
  scores = multiply(scores, attention.scaling);
  if (!attention.mask.is_none()) scores = add(scores, attention.mask);
  Arguments args{{"self", scores}, {"dim", -1}};
  if (attention.softmax == Softmax::float32) args.push_back({"dtype", scalar_type(DType::float32)});
  Ref shares = function("torch.nn.functional.softmax", "aten::softmax.int", std::move(args));
  if (attention.softmax != Softmax::plain) shares = to(shares, DType::float32);
  return transpose(matmul(dropped(shares, attention.dropout), attention.value), 1, 2);
}

}  // namespace mase::huggingface
