// SPDX-License-Identifier: Apache-2.0
// For one layer after another, collects its inputs on the graph so far and rounds its weight.
#include "passes/transform/gptq.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "ir/op_table.hpp"
#include "passes/reconstruction/error_compensation.hpp"
#include "passes/reconstruction/layer_rows.hpp"
#include "passes/statistics/values.hpp"

namespace mase::passes {
namespace {

/// A weight and the nodes that read it, all with the same format.
struct Layer {
  std::string tensor;
  std::vector<ir::NodeId> nodes;
};

bool is_product(ir::OpFamily family) {
  return family == ir::OpFamily::linear || family == ir::OpFamily::convolution;
}

bool sums_products(ir::OpFamily family) {
  using enum ir::OpFamily;
  return family == transposed_convolution || family == matrix_product || family == recurrent ||
         family == attention_layer;
}

const ir::Port* find_port(const std::vector<ir::Port>& ports, const std::string& name) {
  const auto port = std::ranges::find(ports, name, &ir::Port::name);
  return port == ports.end() ? nullptr : &*port;
}

std::vector<Layer> quantized_layers(const ir::Graph& graph) {
  std::vector<Layer> layers;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const std::string* tensor = graph.tensor_of(node, "weight");
    if (!tensor || !node.formats.contains("weight") ||
        !is_product(ir::classify(graph, node).family()))
      continue;
    const auto known = std::ranges::find(layers, *tensor, &Layer::tensor);
    if (known == layers.end())
      layers.push_back({*tensor, {id}});
    else
      known->nodes.push_back(id);
  }
  return layers;
}

/// Quantized weights in sums of products that are not rows of inputs times rows of the weight.
std::vector<std::string> other_weights(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const ir::Classified what = ir::classify(graph, node);
    const std::vector<ir::Port> ports = ir::ports(graph, node);
    const ir::Port* weight = find_port(ports, "weight");
    const bool constant =
        weight && source_of(graph, "", weight->value, weight->tensor).nodes.empty();
    if (constant && node.formats.contains("weight") && sums_products(what.family()))
      names.push_back("'" + node.name + "' (" + what.op + ")");
  }
  return names;
}

void check_formats(const ir::Graph& graph, const Layer& layer) {
  const ir::Node& first = graph.node(layer.nodes.front());
  for (const ir::NodeId id : layer.nodes)
    if (graph.node(id).formats.at("weight") != first.formats.at("weight"))
      config_error("weight '" + layer.tensor + "' has one format at node '" + first.name +
                   "' and another at '" + graph.node(id).name + "'; give both the same");
}

/// The products of a layer's inputs with each other, by group of its channels.
class Collector {
 public:
  Collector(const ir::Graph& graph, const Layer& layer)
      : graph_(graph), layer_(layer), weight_(graph.tensors.at(layer.tensor).value.shape()) {
    for (const ir::NodeId id : layer.nodes)
      geometries_.push_back(LayerGeometry::of(graph, graph.node(id), weight_));
    const std::int64_t columns = numel(weight_) / weight_.front();
    products_.assign(static_cast<std::size_t>(geometries_.front().groups), InputProducts(columns));
  }

  std::vector<InputProducts> run(std::int64_t rows, const PassContext& context) {
    std::vector<Source> sources;
    for (const ir::NodeId id : layer_.nodes) {
      const ir::Node& node = graph_.node(id);
      const std::vector<ir::Port> ports = ir::ports(graph_, node);
      sources.push_back(source_of(graph_, "node '" + node.name + "', port data_in",
                                  find_port(ports, "data_in")->value, ""));
    }
    show_values(graph_, sources, ir::Level::quantized, rows, context,
                [&](std::size_t index, const Array& values) { add(index, values.to_float32()); });
    return std::move(products_);
  }

 private:
  void add(std::size_t index, Array values) {
    const auto& formats = graph_.node(layer_.nodes[index]).formats;
    if (const auto format = formats.find("data_in"); format != formats.end())
      format->second.deterministic().quantize(values.mutable_span<float>(),
                                              values.mutable_span<float>(), values.shape());
    show_rows(geometries_[index], values, [&](std::int64_t group, std::span<const float> rows) {
      products_[static_cast<std::size_t>(group)].add(rows);
    });
  }

  const ir::Graph& graph_;
  const Layer& layer_;
  Shape weight_;
  std::vector<LayerGeometry> geometries_;  ///< by node of the layer
  std::vector<InputProducts> products_;    ///< by group
};

Array quantized(const formats::Format& format, const Array& weight) {
  Array out(DType::float32, weight.shape());
  format.quantize(weight.span<float>(), out.mutable_span<float>(), weight.shape());
  return out;
}

/// Signal-to-noise ratio of the products when `weight` is replaced by `changed`, in dB.
double quality(const Array& weight, const Array& changed, std::span<const InputProducts> products) {
  const std::vector<float> nothing(weight.span<float>().size());
  const double signal = output_error(weight.span<float>(), nothing, products);
  const double noise = output_error(weight.span<float>(), changed.span<float>(), products);
  return noise > 0 && signal > 0 ? 10 * std::log10(signal / noise)
                                 : std::numeric_limits<double>::infinity();
}

std::string decibel(double value) { return std::isinf(value) ? "exact" : fixed_text(value, 2); }

class Rounding {
 public:
  Rounding(ir::Graph& graph, const Gptq::Options& options, const PassContext& context)
      : graph_(graph), options_(options), context_(context) {}

  void round(const Layer& layer) {
    const formats::Format format =
        graph_.node(layer.nodes.front()).formats.at("weight").deterministic();
    ir::Tensor& tensor = graph_.tensors.at(layer.tensor);
    const Array weight = tensor.value.to_float32();
    const auto inputs = Collector(graph_, layer).run(options_.num_samples, context_);
    const Array nearest = quantized(format, weight);
    const Array changed = quantized(
        format, Array::from(compensate(weight, format, inputs, options_.damping), weight.shape()));
    const double before = quality(weight, nearest, inputs);
    const double after = quality(weight, changed, inputs);
    if (after > before) tensor.value = changed;
    report(layer, before, std::max(before, after));
  }

  ReportTable table{"Error compensation: SQNR of the products [dB]",
                    {"Node", "Weight", "Nearest", "Compensated"},
                    {},
                    ""};
  Tree layers = Tree::dict();

 private:
  void report(const Layer& layer, double before, double after) {
    const ir::Node& node = graph_.node(layer.nodes.front());
    table.rows.push_back(
        {node.name, node.formats.at("weight").short_text(), decibel(before), decibel(after)});
    Tree& entry = layers[node.name];
    // JSON has no infinity, so an exact layer is written as a word.
    const auto written = [](double v) { return std::isinf(v) ? Tree("exact") : Tree(v); };
    entry["nearest_db"] = written(before);
    entry["compensated_db"] = written(after);
  }

  ir::Graph& graph_;
  const Gptq::Options& options_;
  const PassContext& context_;
};

}  // namespace

Result Gptq::run(ir::Graph& graph, const Options& options, PassContext& context) {
  const std::vector<Layer> layers = quantized_layers(graph);
  for (const Layer& layer : layers) check_formats(graph, layer);
  // Works on a copy, so that an error leaves the caller's graph unchanged.
  ir::Graph changed = graph;
  Rounding rounding(changed, options, context);
  for (const Layer& layer : layers) rounding.round(layer);
  graph = std::move(changed);
  Result result;
  result.changed = !layers.empty();
  result.headline = "weights of " + counted(layers.size(), "layer") + " rounded";
  if (layers.empty())
    result.notes.emplace_back(
        "no linear layer or convolution has a format on its weight; run "
        "quantize first");
  if (const auto others = other_weights(graph); !others.empty())
    result.notes.push_back(
        "these weights keep rounding to nearest, since error compensation is "
        "for linear layers and convolutions only: " +
        join(others, ", "));
  result.info["layers"] = std::move(rounding.layers);
  result.tables.push_back(std::move(rounding.table));
  return result;
}

}  // namespace mase::passes
