// SPDX-License-Identifier: Apache-2.0
// Finds the constants with a bound of their own, and replaces them.
#include "passes/quantization/finite_masks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/text.hpp"
#include "ir/masks.hpp"
#include "ir/op_table.hpp"

namespace mase::passes {
namespace {

constexpr std::int64_t rows_to_judge = 32;
/// A share below this vanishes next to 1 in float32, and in formats of up to 16 bits.
constexpr double least_share = 0x1p-17;

bool is_softmax(const ir::Node& node) { return ir::base_op(node.op) == "aten::softmax"; }

/// The factor of a product with one reader when it is as large as masks are; null otherwise.
ir::Value* large_factor(ir::Graph& graph, const ir::Value* product) {
  if (!product || !product->is_node() || graph.users(product->node()).size() != 1) return nullptr;
  ir::Node& node = graph.node(product->node());
  if (ir::base_op(node.op) != "aten::mul") return nullptr;
  for (ir::Argument& argument : node.args) {
    if (argument.value.is_number() && argument.value.as_double() >= -finite_mask_bound)
      return &argument.value;
  }
  return nullptr;
}

/// Replaces x - m c, by which XLNet hides elements, by x + m (-c), which has the same values, when
/// that makes m (-c) masks.
void add_masks(ir::Graph& graph) {
  ir::Graph added = graph;
  std::vector<ir::NodeId> sums;
  for (const ir::NodeId id : added.order()) {
    ir::Node& node = added.node(id);
    if (ir::base_op(node.op) != "aten::sub" || node.find("alpha")) continue;
    ir::Value* factor = large_factor(added, node.find("other"));
    if (!factor) continue;
    *factor = ir::Value(-factor->as_double());
    node.op = replace_all(node.op, "aten::sub", "aten::add");
    node.target = replace_all(node.target, "sub", "add");
    sums.push_back(id);
  }
  const ir::Masks masks(added, finite_mask_bound);
  if (!sums.empty() && std::ranges::all_of(sums, [&](ir::NodeId id) { return masks.in(id); }))
    graph = std::move(added);
}

class Writer {
 public:
  Writer(ir::Graph& graph, double bound) : graph_(graph), bound_(bound), masks_(graph, bound) {}

  /// True when there are softmaxes that read such masks, and all of them round their input.
  bool is_rounded() const {
    bool any = false;
    for (const ir::NodeId id : graph_.order()) {
      const ir::Node& node = graph_.node(id);
      if (!is_softmax(node) || !masks_.in(node.args.front().value)) continue;
      if (!node.formats.contains("data_in")) return false;
      any = true;
    }
    return any;
  }

  /// Replaces the numbers; returns the names of the nodes that had them.
  std::vector<std::string> write() {
    for (const ir::NodeId id : masks_.nodes()) {
      ir::Node& node = graph_.node(id);
      if (node.kind == ir::NodeKind::get_attr && is_read_here_alone(node.target))
        replace(node.target, node.name);
      for (ir::Argument& argument : node.args) visit(node, argument);
    }
    return std::move(names_);
  }

 private:
  bool is_finite_mask(double number) const { return number <= bound_ && number > ir::mask_bound; }

  void visit(const ir::Node& node, ir::Argument& argument) {
    const ir::Value& value = argument.value;
    if (value.is_number() && is_finite_mask(value.as_double())) {
      const ir::Value least(least_);  // a temporary would draw a warning of GCC 12
      argument.value = least;
      names_.push_back(node.name);
    }
    if (!value.is_node()) return;  // a factor that makes masks is not a mask itself
    const ir::Node& given = graph_.node(value.node());
    if (given.kind == ir::NodeKind::get_attr && graph_.users(given.id).size() == 1 &&
        readers(given.target) == 1)
      replace(given.target, node.name);
  }

  std::size_t readers(const std::string& path) const {
    std::size_t count = 0;
    for (const ir::NodeId id : graph_.order())
      count += graph_.node(id).kind == ir::NodeKind::get_attr && graph_.node(id).target == path;
    for (const auto& [name, module] : graph_.modules)
      for (const auto& [argument, tensor] : module.tensors) count += tensor == path;
    return count;
  }

  bool is_read_here_alone(const std::string& path) const {
    const auto reads = [&](ir::NodeId id) { return graph_.node(id).target == path; };
    return readers(path) == static_cast<std::size_t>(std::ranges::count_if(masks_.nodes(), reads));
  }

  void replace(const std::string& path, const std::string& name) {
    Array& values = graph_.tensors.at(path).value;
    if (values.dtype() != DType::float32) return;
    bool any = false;
    for (float& value : values.mutable_span<float>()) {
      if (!is_finite_mask(value)) continue;
      value = least_;
      any = true;
    }
    if (any) names_.push_back(name);
  }

  static constexpr float least_ = std::numeric_limits<float>::lowest();
  ir::Graph& graph_;
  const double bound_;
  const ir::Masks masks_;
  std::vector<std::string> names_;
};

/// The largest difference on data between the softmaxes of two graphs with the same nodes.
double difference_of_shares(const ir::Graph& before, const ir::Graph& after,
                            const PassContext& context) {
  const auto first = context.evaluator(before, ir::Level::floating);
  const auto second = context.evaluator(after, ir::Level::floating);
  double difference = 0;
  context.each_batch(rows_to_judge, [&](const std::vector<Array>& inputs) {
    std::map<std::string, Array> shares;
    const auto each = [](const auto& see) {
      return [see](const ir::Node& node, const std::string& port, const Array& value) {
        if (port == "data_out" && is_softmax(node)) see(node.name, value);
      };
    };
    first->run(inputs,
               each([&](const std::string& name, const Array& value) { shares[name] = value; }));
    second->run(inputs, each([&](const std::string& name, const Array& value) {
                  const auto a = shares.at(name).span<float>(), b = value.span<float>();
                  for (std::size_t i = 0; i < a.size(); ++i)
                    if (!(std::fabs(a[i] - b[i]) <= difference))
                      difference = std::fabs(a[i] - b[i]);
                }));
  });
  return difference;
}

}  // namespace

void write_masks(ir::Graph& graph, const PassContext& context, Result& result) {
  const auto tell = [&](const std::vector<std::string>& names) {
    if (names.empty()) return;
    for (const std::string& name : names) result.info["masks"].push_back(name);
    result.details.push_back("numbers that hide elements from a softmax became masks, at: " +
                             join(names, ", "));
  };
  ir::Graph with_sums = graph;
  add_masks(with_sums);
  if (Writer(with_sums, finite_mask_bound).is_rounded()) graph = std::move(with_sums);
  Writer strong(graph, finite_mask_bound);
  if (strong.is_rounded()) tell(strong.write());
  ir::Graph changed = graph;
  Writer weak(changed, weak_mask_bound);
  if (!weak.is_rounded()) return;
  const std::vector<std::string> names = weak.write();
  if (names.empty()) return;
  const bool judged = context.evaluator && context.has_data();
  if (judged && difference_of_shares(graph, changed, context) <= least_share) {
    graph = std::move(changed);
    return tell(names);
  }
  if (!judged)
    result.notes.push_back(
        "the format of a softmax takes numbers below -16 for scores; if they hide elements, "
        "give example inputs with --input, or write -inf in the model, at: " +
        join(names, ", "));
}

}  // namespace mase::passes
