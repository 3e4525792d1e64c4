// SPDX-License-Identifier: Apache-2.0
// Functions and methods, and the joints between them.
#include "ir/initial_weights.hpp"
#include "models/builder.hpp"

namespace mase::models {

using ir::Value;

void Builder::call_relu() {
  add_call(ir::NodeKind::call_function, "torch.nn.functional.relu", "aten::relu", {});
}

void Builder::call_max_pool2d(std::int64_t kernel) {
  pool_shape(kernel);
  add_call(ir::NodeKind::call_function, "torch.nn.functional.max_pool2d", "aten::max_pool2d",
           {{"kernel_size", Value::list({Value(kernel), Value(kernel)})}});
}

void Builder::call_flatten() {
  shape_ = {numel(shape_)};
  add_call(ir::NodeKind::call_function, "torch.flatten", "aten::flatten.using_ints",
           {{"start_dim", Value(1)}});
}

void Builder::call_view() {
  shape_ = {numel(shape_)};
  add_call(ir::NodeKind::call_method, "view", "aten::view",
           {{"size", Value::list({Value(-1), Value(shape_[0])})}});
}

void Builder::call(ir::NodeKind kind, const std::string& target, const std::string& op,
                   std::vector<ir::Argument> args, const Shape& result, std::size_t batch) {
  shape_ = result;
  add_call(kind, target, op, std::move(args), batch);
}

std::array<Joint, 2> Builder::halves() {
  shape_.back() /= 2;
  add_call(ir::NodeKind::call_function, "torch.chunk", "aten::chunk",
           {{"chunks", Value(2)}, {"dim", Value(-1)}});
  const Joint parts = joint();
  ir::ValueInfo& list = graph_.node(parts.node).info;
  list = {.kind = ir::ValueInfo::Kind::list, .shape = {}, .elements = {info(), info()}, .keys = {}};
  return {item(parts, 0), item(parts, 1)};
}

Joint Builder::item(const Joint& list, int index) {
  go_on_from(list);
  add_call(ir::NodeKind::call_function, "_operator.getitem", "mase::getitem",
           {{"index", Value(index)}});
  return joint();
}

void Builder::concat(const Joint& first, const Joint& second) {
  shape_ = first.shape;
  shape_.back() += second.shape.back();
  join(first, second, -1);
}

void Builder::add_token(const std::string& path) {
  const Joint rows = joint();
  const std::int64_t width = rows.shape.at(1);
  Array start = ir::initial_weights({1, 1, width}, width, seed_, graph_.tensor_order.size());
  const ir::NodeId token = add_tensor(path, {std::move(start), true, true});
  add_call(ir::NodeKind::call_method, "size", "aten::size.int", {{"dim", Value(0)}});
  graph_.node(last_).info = {
      .kind = ir::ValueInfo::Kind::integer, .shape = {}, .elements = {}, .keys = {}};
  const Value batch(ir::NodeRef{last_});
  go_on_from({token, {1, width}});
  add_call(ir::NodeKind::call_method, "expand", "aten::expand",
           {{"size", Value::list({batch, Value(-1), Value(-1)})}});
  const Joint expanded = joint();
  shape_[0] += rows.shape[0];
  join(expanded, rows, 1);
}

void Builder::first_row() {
  shape_.erase(shape_.begin());
  const Value all = Value::slice(Value(), Value(), Value());
  add_call(ir::NodeKind::call_function, "_operator.getitem", "mase::getitem",
           {{"index", Value::tuple({all, Value(0)})}});
}

/// Two tensors one after the other; the builder's shape becomes that of both together.
void Builder::join(const Joint& first, const Joint& second, int dim) {
  append(
      ir::NodeKind::call_function, "torch.cat", "aten::cat",
      {{"tensors", Value::list({Value(ir::NodeRef{first.node}), Value(ir::NodeRef{second.node})})},
       {"dim", Value(dim)}});
}

void Builder::add_positions(const std::string& path) {
  Shape shape{1};
  shape.insert(shape.end(), shape_.begin(), shape_.end());
  Array start = ir::initial_weights(shape, shape_.back(), seed_, graph_.tensor_order.size());
  const ir::NodeId table = add_tensor(path, {std::move(start), true, true});
  add_call(ir::NodeKind::call_function, "_operator.add", "aten::add.Tensor",
           {{"other", Value(ir::NodeRef{table})}});
}

void Builder::add(const Joint& other) {
  const Value branch(ir::NodeRef{last_});
  last_ = other.node;
  add_call(ir::NodeKind::call_function, "_operator.add", "aten::add.Tensor", {{"other", branch}});
}

void Builder::multiply(const Joint& other) {
  add_call(ir::NodeKind::call_function, "_operator.mul", "aten::mul.Tensor",
           {{"other", Value(ir::NodeRef{other.node})}});
}

Joint Builder::constant(const std::string& path, Array value) {
  const Shape shape = value.shape();
  return {add_tensor(path, {std::move(value), false, false}), shape};
}

ir::NodeId Builder::add_tensor(const std::string& path, ir::Tensor tensor) {
  ir::Node node;
  node.kind = ir::NodeKind::get_attr;
  node.name = ir::node_name_of(path);
  node.target = path;
  node.info = ir::ValueInfo::tensor(tensor.value.dtype(), tensor.value.shape());
  graph_.set_tensor(path, std::move(tensor));
  return graph_.add(std::move(node));
}

void Builder::go_on_from(const Joint& joint) {
  last_ = joint.node;
  shape_ = joint.shape;
}

void Builder::add_call(ir::NodeKind kind, const std::string& target, const std::string& op,
                       std::vector<ir::Argument> args, std::size_t batch) {
  const std::string data = op == "mase::getitem" ? "value" : "self";
  args.insert(args.begin(), {data, Value(ir::NodeRef{last_})});
  append(kind, target, op, std::move(args), batch);
}

void Builder::append(ir::NodeKind kind, const std::string& target, const std::string& op,
                     std::vector<ir::Argument> args, std::size_t batch) {
  ir::Node node;
  node.kind = kind;
  node.name = target.substr(target.rfind('.') + 1);
  node.target = target;
  node.op = op;
  node.args = std::move(args);
  node.info = info(batch);
  last_ = graph_.add(std::move(node));
}

}  // namespace mase::models
