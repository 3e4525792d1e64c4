// SPDX-License-Identifier: Apache-2.0
// Quantizers in front of the nodes that read rounded values, and behind those that give them.
#include "pt2/export/quantizers.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "ir/masks.hpp"
#include "ir/op_table.hpp"
#include "ir/tensor_readers.hpp"
#include "pt2/export/script.hpp"
#include "pt2/export/steps.hpp"

namespace mase::pt2 {
namespace {

bool takes_format(const ir::ValueInfo& info) {
  return info.is_tensor() && info.dtype == DType::float32;
}

Array rounded(const Array& value, const formats::Format& format) {
  const Array from = value.aligned();
  Array to(DType::float32, from.shape());
  format.deterministic().quantize(from.span<float>(), to.mutable_span<float>(), from.shape());
  return to;
}

class FormatExpander {
 public:
  explicit FormatExpander(Expanded& expanded)
      : expanded_(expanded),
        graph_(expanded.graph),
        first_(expanded.graph),
        masks_(first_),
        uses_(ir::tensor_uses(first_)) {}

  void run() {
    const std::vector<ir::NodeId> order = graph_.order();
    for (std::size_t i = 0; i < order.size(); ++i)
      expand(order[i], i + 1 < order.size() ? order[i + 1] : ir::no_node);
  }

 private:
  void lose(const ir::Node& node, const std::string& port, const std::string& reason) {
    expanded_.losses.push_back(node.name + "." + port + " (" + node.formats.at(port).short_text() +
                               "): " + reason);
  }

  void expand(ir::NodeId id, ir::NodeId next) {
    const ir::Node node = first_.node(id);
    const bool hides = masks_.hide(node);
    graph_.node(id).formats.clear();
    for (const ir::Port& port : ir::ports(first_, node))
      if (port.name != "data_out" && node.formats.contains(port.name)) expand_port(node, port);
    const bool is_inner = node.op.starts_with("mase::") && node.formats.contains("state");
    if (is_inner) lose(node, "state", "the operator computes this value itself");
    if (hides) hide(node, next);
    if (const auto format = node.formats.find("data_out");
        format != node.formats.end() && takes_format(node.info))
      expand_result(node, format->second, next);
  }

  void expand_port(const ir::Node& node, const ir::Port& port) {
    const formats::Format& format = node.formats.at(port.name);
    try {
      if (!port.tensor.empty()) return round_tensor(node, port, format);
      ir::Value* value = graph_.node(node.id).find(port.argument);
      if (!value) return lose(node, port.name, "the operator computes this value itself");
      ir::Value changed = *value;
      std::set<ir::NodeId> sources;
      port.value.for_each_node([&](ir::NodeId one) { sources.insert(one); });
      changed.change_nodes([&](ir::NodeId one) {
        const ir::NodeId source = results_.contains(one) ? results_.at(one) : one;
        const bool rounds = sources.contains(one) || sources.contains(first_of(one));
        return rounds && takes_format(graph_.node(source).info)
                   ? ir::Value(ir::NodeRef{quantizer(source, format, node.id, first_of(one))})
                   : ir::Value(ir::NodeRef{one});
      });
      *graph_.node(node.id).find(port.argument) = std::move(changed);
    } catch (const Error& error) {
      if (error.fault() != Fault::unsupported) throw;
      lose(node, port.name, error.what());
    }
  }

  /// The node of the first graph whose (rounded) result a node gives.
  ir::NodeId first_of(ir::NodeId id) const {
    const auto found = first_of_.find(id);
    return found == first_of_.end() ? id : found->second;
  }

  void round_tensor(const ir::Node& node, const ir::Port& port, const formats::Format& format) {
    const ir::Tensor& tensor = first_.tensors.at(port.tensor);
    if (tensor.value.dtype() != DType::float32) return;
    if (node.op.starts_with("mase::"))
      return lose(node, port.name, "the operator rounds this value at every step");
    if (uses_.at(port.tensor) == 1) {
      graph_.tensors.at(port.tensor).value = rounded(tensor.value, format);
      return;
    }
    const auto [known, added] = tensors_.try_emplace({port.tensor, format.text()});
    if (added)
      known->second = Steps(expanded_, node.id, node)
                          .constant(port.tensor + "_quantized", rounded(tensor.value, format));
    ir::Node& reader = graph_.node(node.id);
    if (ir::Value* value = reader.find(port.argument))
      *value = ir::NodeRef{known->second};
    else
      reader.args.push_back({port.argument, ir::NodeRef{known->second}});
  }

  void hide(const ir::Node& node, ir::NodeId next) {
    Steps steps(expanded_, next, origin("softmax", node));
    const ir::Value input = graph_.node(node.id).args.at(0).value;
    const double lowest = -std::numeric_limits<double>::infinity();
    const ir::NodeId hidden = steps.add("aten::eq.Scalar", {{"self", input}, {"other", lowest}});
    replace(
        node.id,
        steps.add("aten::masked_fill.Scalar",
                  {{"self", ir::NodeRef{node.id}}, {"mask", ir::NodeRef{hidden}}, {"value", 0.0}}),
        next);
  }

  void expand_result(const ir::Node& node, const formats::Format& format, ir::NodeId next) {
    try {
      const auto done = results_.find(node.id);
      const ir::NodeId source = done == results_.end() ? node.id : done->second;
      if (node.kind == ir::NodeKind::output) {
        ir::Value& value = graph_.node(node.id).args.at(0).value;
        if (value.is_node())
          value = ir::NodeRef{quantizer(value.node(), format, node.id, first_of(value.node()))};
        return;
      }
      replace(node.id, quantizer(source, format, next, node.id), next);
    } catch (const Error& error) {
      if (error.fault() != Fault::unsupported) throw;
      lose(node, "data_out", error.what());
    }
  }

  /// Readers after `next` read the new value.
  void replace(ir::NodeId from, ir::NodeId to, ir::NodeId next) {
    const std::vector<ir::NodeId>& order = graph_.order();
    for (auto at = std::find(order.begin(), order.end(), next); at != order.end(); ++at)
      for (ir::Argument& argument : graph_.node(*at).args) {
        argument.value.replace_node(from, to);
        if (const auto old = results_.find(from); old != results_.end())
          argument.value.replace_node(old->second, to);
      }
    results_[from] = to;
    first_of_[to] = from;
  }

  ir::Node origin(std::string name, const ir::Node& at) {
    ir::Node node;
    node.kind = ir::NodeKind::call_function;
    node.id = --last_origin_;
    node.name = at.name;
    node.target = std::move(name);
    node.op = "mase::quantizer";
    return node;
  }

  /// The rounded value of a node, in front of the node `before`.
  ir::NodeId quantizer(ir::NodeId source, const formats::Format& format, ir::NodeId before,
                       ir::NodeId first) {
    const bool keeps_masks = masks_.in(first);
    const auto [known, added] =
        quantizers_.try_emplace({source, format.text(), keeps_masks}, ir::no_node);
    if (!added && known->second != ir::no_node) return known->second;
    Steps steps(expanded_, before,
                origin("mase." + std::string(format.name()), graph_.node(source)));
    const auto rank = static_cast<int>(graph_.node(source).info.shape.size());
    const std::string text = format.deterministic().torchscript(rank);
    const ir::ValueInfo info = graph_.node(source).info;
    ir::NodeId x = source, masked = ir::no_node;
    if (keeps_masks) {
      masked = steps.add("aten::le.Scalar", {{"self", ir::NodeRef{x}}, {"other", ir::mask_bound}});
      x = steps.add("aten::masked_fill.Scalar",
                    {{"self", ir::NodeRef{x}}, {"mask", ir::NodeRef{masked}}, {"value", 0.0}});
    }
    ir::NodeId q = write_script(steps, text, x);
    q = steps.add("aten::contiguous", {{"self", ir::NodeRef{q}}});
    graph_.node(q).info = info;
    if (keeps_masks)
      q = steps.add("aten::masked_fill.Scalar",
                    {{"self", ir::NodeRef{q}},
                     {"mask", ir::NodeRef{masked}},
                     {"value", -std::numeric_limits<double>::infinity()}});
    return quantizers_[{source, format.text(), keeps_masks}] = q;
  }

  Expanded& expanded_;
  ir::Graph& graph_;
  const ir::Graph first_;  ///< with formats
  const ir::Masks masks_;
  const std::map<std::string, int> uses_;
  std::map<ir::NodeId, ir::NodeId> results_, first_of_;  ///< rounded results, and back
  std::map<std::pair<std::string, std::string>, ir::NodeId> tensors_;
  std::map<std::tuple<ir::NodeId, std::string, bool>, ir::NodeId> quantizers_;
  ir::NodeId last_origin_ = ir::no_node;
};

}  // namespace

void expand_formats(Expanded& expanded) { FormatExpander(expanded).run(); }

}  // namespace mase::pt2
