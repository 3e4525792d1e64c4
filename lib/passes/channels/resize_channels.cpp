// SPDX-License-Identifier: Apache-2.0
// Changes the tensors, written numbers and shapes of a graph to their new widths.
#include "passes/channels/resize_channels.hpp"

#include <algorithm>
#include <cstring>

#include "base/random.hpp"
#include "ir/initial_weights.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"

namespace mase::passes {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 31;

/// The elements at `index` along a dimension, of any dtype.
Array taken(const Array& array, std::size_t axis, const std::vector<std::int64_t>& index) {
  Shape shape = array.shape();
  const std::int64_t old_size = shape[axis];
  shape[axis] = static_cast<std::int64_t>(index.size());
  Array result(array.dtype(), shape);
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < axis; ++d) outer *= shape[d];
  std::size_t inner = size_of(array.dtype());
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  std::byte* to = result.mutable_bytes();
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i : index) {
      std::memcpy(to, array.bytes() + static_cast<std::size_t>(o * old_size + i) * inner, inner);
      to += inner;
    }
  return result;
}

/// Calls f(index along the dimension, value) for every float.
template <class F>
void for_each_along(Array& array, std::size_t axis, F&& f) {
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < array.shape().size(); ++d)
    inner *= static_cast<std::size_t>(array.shape()[d]);
  const auto size = static_cast<std::size_t>(array.shape()[axis]);
  const auto values = array.mutable_span<float>();
  for (std::size_t i = 0; i < values.size(); ++i) f(i / inner % size, values[i]);
}

class Resizer {
 public:
  Resizer(ir::Graph& graph, const ChannelMap& map, const ChannelWidths& widths,
          const ResizeOptions& options)
      : graph_(graph), map_(map), widths_(widths), options_(options) {}

  void run() {
    check();
    const ChannelSources sources(graph_, map_, widths_);
    for (const auto& [path, channels] : map_.parameters) resize(path, channels, sources);
    if (options_.random) start_weights();
    for (const ChannelNumber& number : map_.numbers) rewrite(number);
    for (ir::NodeId id : graph_.order()) note_shape(graph_.node(id));
  }

 private:
  bool changes(const ChannelRuns& runs) const {
    return std::ranges::any_of(map_.space.resolve(runs), [&](const ChannelRun& run) {
      return widths_[static_cast<std::size_t>(run.group)] > 0;
    });
  }

  std::int64_t new_size(const ChannelRuns& runs) const {
    std::int64_t elements = 0;
    for (const ChannelRun& run : map_.space.resolve(runs)) {
      const std::int64_t width = widths_[static_cast<std::size_t>(run.group)];
      elements += run.repeat * (width > 0 ? width : map_.space.unit(run.group).width);
    }
    return elements;
  }

  Shape new_shape(Shape shape, const ChannelLayout& layout) const {
    for (std::size_t d = 0; d < layout.size(); ++d)
      if (changes(layout[d])) shape[d] = new_size(layout[d]);
    return shape;
  }

  void check() const {
    for (const auto& [path, channels] : map_.parameters) {
      const Array& value = graph_.tensors.at(path).value;
      double elements = 1;
      for (std::int64_t size : new_shape(value.shape(), channels.layout)) elements *= double(size);
      if (elements > double(most_elements))
        config_error("tensor '" + path +
                     "' would have more than 2^31 elements; use smaller factors");
      const bool divided =
          channels.contracted >= 0 && changes(axis_of(channels, channels.contracted));
      if (divided && value.dtype() != DType::float32)
        unsupported_error("weight '" + path + "' is " + std::string(dtype_name(value.dtype())) +
                          "; only float32 weights can be scaled");
    }
  }

  static const ChannelRuns& axis_of(const ParameterChannels& channels, int axis) {
    return channels.layout[static_cast<std::size_t>(axis)];
  }

  /// Net2WiderNet (Chen, Goodfellow, Shlens: "Net2Net", ICLR 2016): copies of a channel share the
  /// weight with which it was read.
  void resize(const std::string& path, const ParameterChannels& channels,
              const ChannelSources& sources) {
    Array& value = graph_.tensors.at(path).value;
    for (std::size_t d = 0; d < channels.layout.size(); ++d) {
      if (!changes(channels.layout[d])) continue;
      const ResizedElements elements = sources.elements(channels.layout[d]);
      value = taken(value, d, elements.old);
      if (d == 0) resize_formats(path, elements.old);
      if (static_cast<int>(d) == channels.contracted)
        for_each_along(value, d, [&](std::size_t i, float& w) {
          w /= static_cast<float>(elements.copies[i]);
        });
      if (static_cast<int>(d) == channels.produced && options_.noise > 0)
        add_noise(path, value, d, elements.is_copy);
    }
  }

  /// Resizes the values that formats hold for every channel of a tensor.
  void resize_formats(const std::string& path, const std::vector<std::int64_t>& old) {
    for (const ir::NodeId id : graph_.order()) {
      ir::Node& node = graph_.node(id);
      for (const ir::Port& port : ir::ports(graph_, node)) {
        const std::string* tensor = graph_.tensor_of(node, port.argument);
        const auto format = node.formats.find(port.name);
        if (format != node.formats.end() && tensor && *tensor == path)
          format->second = resized(format->second, old);
      }
    }
  }

  static formats::Format resized(const formats::Format& format,
                                 const std::vector<std::int64_t>& old) {
    if (!format.per_channel()) return format;
    const std::string& field = formats::find_format(format.name())->calibrated_by_channel;
    Tree fields = format.fields();
    const Tree before = fields.at(field);
    if (before.size() == 0) return format;
    Tree& channels = fields[field];
    channels = Tree::list();
    for (const std::int64_t i : old)
      channels.push_back(before.as_list().at(static_cast<std::size_t>(i)));
    return formats::format_of(format.name(), fields);
  }

  /// Makes copies differ, since training would keep them equal otherwise.
  void add_noise(const std::string& path, Array& value, std::size_t axis,
                 const std::vector<bool>& is_copy) const {
    if (value.dtype() != DType::float32) return;
    Random random(options_.seed, stream_of(path));
    for_each_along(value, axis, [&](std::size_t i, float& w) {
      if (is_copy[i]) w *= static_cast<float>(1 + options_.noise * random.normal());
    });
  }

  /// The random stream of a tensor, by its place, as for the initial weights of models.
  std::uint64_t stream_of(const std::string& path) const {
    const auto at = std::ranges::find(graph_.tensor_order, path);
    return static_cast<std::uint64_t>(at - graph_.tensor_order.begin());
  }

  bool is_resized(const std::string& path) const {
    const auto channels = map_.parameters.find(path);
    return channels != map_.parameters.end() &&
           std::ranges::any_of(channels->second.layout,
                               [&](const ChannelRuns& runs) { return changes(runs); });
  }

  void start_weights() {
    for (const auto& [path, module] : graph_.modules) {
      const std::string* weight = module.tensor("weight");
      const bool layer =
          weight && map_.parameters.contains(*weight) && map_.parameters.at(*weight).produced >= 0;
      for (const auto& [argument, tensor] : module.tensors)
        if (is_resized(tensor) || (layer && is_resized(*weight)))
          start(module, argument, tensor, layer);
    }
  }

  /// Sets torch.nn's initial values: uniform weights and biases, and norms that change nothing.
  void start(const ir::Module& module, const std::string& argument, const std::string& path,
             bool layer) {
    Array& value = graph_.tensors.at(path).value;
    if (value.dtype() != DType::float32) return;
    if (layer) {
      const Shape& shape = graph_.tensors.at(*module.tensor("weight")).value.shape();
      const std::int64_t fan_in = numel(shape) / shape[0];
      value = ir::initial_weights(value.shape(), fan_in, options_.seed, stream_of(path));
      return;
    }
    const bool prelu = ir::base_op(module.op) == "aten::prelu";
    const float one = prelu ? 0.25f : 1.0f;
    const bool multiplies = argument == "weight" || argument == "running_var";
    std::ranges::fill(value.mutable_span<float>(), multiplies ? one : 0.0f);
  }

  void rewrite(const ChannelNumber& number) {
    if (!changes(number.runs)) return;
    ir::Node& node = graph_.node(number.node);
    ir::Value* value = node.find(number.argument);
    if (value == nullptr)
      for (ir::Argument& attribute : graph_.modules.at(node.target).attributes)
        if (attribute.name == number.argument) value = &attribute.value;
    if (number.index >= 0) value = &value->items()[static_cast<std::size_t>(number.index)];
    *value = ir::Value(new_size(number.runs) / number.divisor);
  }

  void note_shape(ir::Node& node) {
    const auto layout = map_.layouts.find(node.id);
    if (layout != map_.layouts.end()) node.info.shape = new_shape(node.info.shape, layout->second);
    if (node.meta.common.size() > 0) node.meta.common = ir::common_metadata(graph_, node);
    node.meta.hardware = Tree();
  }

  ir::Graph& graph_;
  const ChannelMap& map_;
  const ChannelWidths& widths_;
  const ResizeOptions& options_;
};

}  // namespace

void resize_channels(ir::Graph& graph, const ChannelMap& map, const ChannelWidths& widths,
                     const ResizeOptions& options) {
  Resizer(graph, map, widths, options).run();
}

}  // namespace mase::passes
