// SPDX-License-Identifier: Apache-2.0
// Adds steps with the infos that the rules of shape inference give.
#include "pt2/export/steps.hpp"

#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "ir/inference.hpp"

namespace mase::pt2 {
namespace {

/// The infos of the graph, and the sizes that steps have computed.
class KnownToSteps : public ir::KnownResults {
 public:
  explicit KnownToSteps(const Expanded& expanded) : expanded_(expanded) {}
  const ir::ValueInfo& info(ir::NodeId id) const override { return expanded_.graph.node(id).info; }
  std::optional<std::int64_t> integer(ir::NodeId id) const override {
    const auto found = expanded_.sizes.find(id);
    return found == expanded_.sizes.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const Expanded& expanded_;
};

ir::Value or_else(const ir::Value& bound, std::int64_t otherwise) {
  return bound.is_none() ? ir::Value(otherwise) : bound;
}

/// "aten::slice.Tensor" → "torch.slice"
std::string function_name(const std::string& op) {
  const std::string name = op.substr(op.rfind(':') + 1);
  return "torch." + name.substr(0, name.find('.'));
}

}  // namespace

ir::NodeId Steps::add(std::string op, std::vector<ir::Argument> args) {
  ir::Node step;
  step.kind = ir::NodeKind::call_function;
  step.target = function_name(op);
  step.op = std::move(op);
  step.args = std::move(args);
  const ir::NodeId id = expanded_.graph.add(std::move(step), before_);
  const KnownToSteps known(expanded_);
  if (auto info = ir::infer(expanded_.graph, expanded_.graph.node(id), known))
    expanded_.graph.node(id).info = std::move(*info);
  if (const auto size = ir::host_integer(expanded_.graph, expanded_.graph.node(id), known))
    expanded_.sizes.emplace(id, *size);
  expanded_.origins.emplace(id, origin_);
  return id;
}

ir::NodeId Steps::constant(const std::string& wanted, Array value) {
  std::string path = wanted;
  for (int i = 1; expanded_.graph.tensors.contains(path); ++i)
    path = wanted + "_" + std::to_string(i);
  expanded_.graph.set_tensor(path, {std::move(value)});
  expanded_.constants.insert(path);
  return tensor(path);
}

ir::NodeId Steps::tensor(const std::string& path) {
  const Array& value = expanded_.graph.tensors.at(path).value;
  ir::Node read;
  read.kind = ir::NodeKind::get_attr;
  read.target = path;
  read.info = ir::ValueInfo::tensor(value.dtype(), value.shape());
  return expanded_.graph.add(std::move(read), before_);
}

ir::NodeId Steps::subscript(ir::NodeId base, const std::vector<ir::Value>& items) {
  using Kind = ir::Value::Kind;
  std::int64_t dim = 0;
  bool has_tensors = false;
  ir::Value::List tensors;
  ir::Value value = ir::NodeRef{base};
  const auto apply = [&](const char* op, std::vector<ir::Argument> args) {
    args.insert(args.begin(), {"self", value});
    value = ir::NodeRef{add(op, std::move(args))};
  };
  for (const ir::Value& item : items) {
    const bool tensor = item.is_node() && info(item.node()).is_tensor();
    if (item.kind() == Kind::slice) {
      constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
      apply("aten::slice.Tensor", {{"dim", dim},
                                   {"start", or_else(item.items()[0], 0)},
                                   {"end", or_else(item.items()[1], last)},
                                   {"step", or_else(item.items()[2], 1)}});
    } else if (item.is_none()) {
      apply("aten::unsqueeze", {{"dim", dim}});
    } else if (tensor) {
      has_tensors = true;
      tensors.resize(static_cast<std::size_t>(dim));
      tensors.push_back(item);
    } else if (item.is_node() || item.kind() == Kind::integer) {
      apply("aten::select.int", {{"dim", dim}, {"index", item}});
      continue;
    } else {
      unsupported_error("a subscript that is neither a number nor a slice or tensor");
    }
    ++dim;
  }
  if (has_tensors) apply("aten::index.Tensor", {{"indices", ir::Value::list(tensors)}});
  if (value.node() == base) apply("aten::alias", {});
  return value.node();
}

}  // namespace mase::pt2
