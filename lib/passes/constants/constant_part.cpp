// SPDX-License-Identifier: Apache-2.0
// A copy of the graph whose output is the wanted tensors, with numbers in place of sizes.
#include "passes/constants/constant_part.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "passes/constants/like_read.hpp"
#include "passes/constants/size_read.hpp"

namespace mase::passes {
namespace {

ir::Value add(ir::Graph& part, ir::NodeId before, const std::string& op,
              std::vector<ir::Argument> args, ir::ValueInfo info) {
  ir::Node node;
  node.kind = ir::NodeKind::call_function;
  node.op = node.target = op;
  node.name = part.node(args.front().value.node()).name + "_";
  node.args = std::move(args);
  node.info = std::move(info);
  return ir::NodeRef{part.add(std::move(node), before)};
}

ir::Value permuted(ir::Graph& part, const ConstantPart::Wanted& wanted) {
  if (wanted.dims.empty()) return ir::NodeRef{wanted.node};
  const ir::ValueInfo& info = part.node(wanted.node).info;
  ir::Value::List dims;
  Shape shape;
  for (const std::size_t dim : wanted.dims) {
    dims.emplace_back(static_cast<std::int64_t>(dim));
    shape.push_back(info.shape[dim]);
  }
  return add(part, part.output(), "aten::permute",
             {{"self", ir::NodeRef{wanted.node}}, {"dims", ir::Value::list(std::move(dims))}},
             ir::ValueInfo::tensor(info.dtype, std::move(shape)));
}

/// A tensor that holds the stride of `tensor` along a dimension. It is read before the node `next`,
/// so that the tensor need not be kept.
ir::Value stride(ir::Graph& part, ir::NodeId tensor, std::size_t dim, ir::NodeId next) {
  ir::ValueInfo integer;
  integer.kind = ir::ValueInfo::Kind::integer;
  const ir::Value number =
      add(part, next, "aten::stride.int",
          {{"self", ir::NodeRef{tensor}}, {"dim", static_cast<std::int64_t>(dim)}}, integer);
  constexpr std::int64_t int64_in_torch = 4;
  return add(part, next, "aten::scalar_tensor", {{"s", number}, {"dtype", int64_in_torch}},
             ir::ValueInfo::tensor(DType::int64, {}));
}

}  // namespace

/// The value of a node in the run: numbers for a node that reads sizes, otherwise the node itself.
ir::Value ConstantPart::in_run(ir::NodeId id) const {
  const auto read = size_read(graph_, graph_.node(id));
  if (!read || constants_.of(id) == Constancy::varies) return ir::NodeRef{id};
  if (constants_.of(id) == Constancy::rows) return samples;
  const Shape& shape = graph_.node(read->tensor).info.shape;
  if (read->dim) return shape[*read->dim];
  return ir::Value::list({shape.begin(), shape.end()});
}

/// Puts zeros in place of a tensor of which a node reads only the shape or the type.
void ConstantPart::add_template(ir::Graph& part, ir::NodeId reader) const {
  const auto like = like_read(part.node(reader));
  if (!like || constants_.of(reader) == Constancy::varies) return;
  const ir::ValueInfo& info = part.node(like->tensor).info;
  Shape shape = info.shape;
  if (like->shape && constants_.of(reader) == Constancy::rows) shape.front() = samples;
  ir::Node node;
  node.kind = ir::NodeKind::get_attr;
  node.name = node.target = "like_" + part.node(reader).name;
  node.info = ir::ValueInfo::tensor(info.dtype, shape);
  part.set_tensor(node.target, {Array(info.dtype, shape)});
  const ir::NodeId zeros = part.add(std::move(node), reader);
  *part.node(reader).find(like->argument) = ir::NodeRef{zeros};
}

std::vector<Array> ConstantPart::run(ir::Graph part, ir::Value::List results) const {
  ir::ValueInfo tuple;
  tuple.kind = ir::ValueInfo::Kind::tuple;
  for (const ir::Value& result : results) tuple.elements.push_back(part.node(result.node()).info);
  ir::Node& output = part.node(part.output());
  output.info = std::move(tuple);
  const std::size_t count = results.size();
  *output.find("value") = ir::Value::tuple(std::move(results));
  for (const ir::NodeId id : graph_.order())
    for (ir::Argument& argument : part.node(id).args)
      if (id != part.output())
        argument.value.change_nodes([&](ir::NodeId used) { return in_run(used); });
  for (const ir::NodeId id : graph_.order()) add_template(part, id);
  part.remove_dead_nodes();
  for (const ir::NodeId id : part.placeholders()) part.erase(id);
  part.guards.clear();
  ir::remove_unused_tensors(part);
  ir::Results found = evaluator_(part, ir::Level::floating)->run({});
  MASE_CHECK(found.size() == count, "fold_constants: a result is missing");
  std::vector<Array> values;
  for (auto& [name, value] : found) values.push_back(std::move(value));
  return values;
}

std::vector<Array> ConstantPart::values(const std::vector<Wanted>& wanted) const {
  if (wanted.empty()) return {};
  if (!evaluator_)
    config_error("node '" + graph_.node(wanted.front().node).name +
                 "' can be folded, but running it needs LibTorch; see `mase doctor`");
  ir::Graph part = graph_;
  ir::Value::List results;
  for (const Wanted& one : wanted) results.push_back(permuted(part, one));
  return run(std::move(part), std::move(results));
}

std::map<ir::NodeId, Shape> ConstantPart::strides(const std::vector<ir::NodeId>& tensors) const {
  std::map<ir::NodeId, Shape> found;
  ir::Graph part = graph_;
  ir::Value::List results;
  for (const ir::NodeId id : tensors) {
    found[id] = {};
    const ir::NodeId next = *std::next(std::ranges::find(graph_.order(), id));
    for (std::size_t d = 0; d < graph_.node(id).info.shape.size(); ++d)
      results.push_back(stride(part, id, d, next));
  }
  if (results.empty()) return found;
  const std::vector<Array> numbers = run(std::move(part), std::move(results));
  auto number = numbers.begin();
  for (const ir::NodeId id : tensors)
    for (std::size_t d = 0; d < graph_.node(id).info.shape.size(); ++d)
      found[id].push_back((number++)->span<std::int64_t>().front());
  return found;
}

}  // namespace mase::passes
