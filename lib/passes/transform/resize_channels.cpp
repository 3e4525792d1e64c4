// Which old channel every new one is, and the tensors, numbers and shapes that follow from it.
#include "passes/transform/resize_channels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/random.hpp"
#include "ir/initial_weights.hpp"
#include "ir/metadata.hpp"
#include "ir/op_table.hpp"

namespace mase::passes {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 31;

/// The old channel of every new one, and how many new ones each old one has.
struct Sources {
  std::vector<std::int64_t> old;
  std::vector<std::int64_t> copies;
};

/// The same for the elements of a dimension.
struct Elements {
  std::vector<std::int64_t> old;
  std::vector<std::int64_t> copies;  ///< of the old element, by new element
  std::vector<bool> is_copy;         ///< a second or later one
};

/// Sum of |w| over everything but one dimension.
std::vector<double> norms_along(const Array& weight, std::size_t axis) {
  const Array floats = weight.to_float32();
  const auto values = floats.span<float>();
  const Shape& shape = weight.shape();
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  std::vector<double> norms(static_cast<std::size_t>(shape[axis]));
  for (std::size_t i = 0; i < values.size(); ++i)
    norms[i / inner % norms.size()] += std::fabs(values[i]);
  return norms;
}

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

/// Calls f(place along the dimension, value) for every float.
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
    find_sources();
    for (const auto& [path, channels] : map_.parameters) resize(path, channels);
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

  /// L1 norms of the weights that make a group's channels, summed over its producers.
  std::vector<std::vector<double>> importance() const {
    std::vector<std::vector<double>> sums;
    for (int group = 0; group < map_.space.count(); ++group)
      sums.emplace_back(static_cast<std::size_t>(map_.space.unit(group).width));
    for (const auto& [path, channels] : map_.parameters) {
      if (channels.produced < 0 || !changes(axis_of(channels, channels.produced))) continue;
      const auto norms =
          norms_along(graph_.tensors.at(path).value, static_cast<std::size_t>(channels.produced));
      std::size_t at = 0;
      for (const ChannelRun& run : map_.space.resolve(axis_of(channels, channels.produced)))
        for (double& sum : sums[static_cast<std::size_t>(run.group)])
          for (std::int64_t i = 0; i < run.repeat; ++i) sum += norms[at++];
    }
    return sums;
  }

  /// The most important channels, in their old order.
  static std::vector<std::int64_t> best(const std::vector<double>& importance, std::int64_t count) {
    std::vector<std::int64_t> order(importance.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](std::int64_t i) {
      return importance[static_cast<std::size_t>(i)];
    });
    order.resize(static_cast<std::size_t>(count));
    std::ranges::sort(order);
    return order;
  }

  /// Wider: all channels, as often as the width has room for all, then the most important ones.
  static Sources sources(const std::vector<double>& importance, std::int64_t width) {
    Sources found;
    const auto old = static_cast<std::int64_t>(importance.size());
    for (std::int64_t i = 0; i < width / old * old; ++i) found.old.push_back(i % old);
    const auto rest = best(importance, width % old);
    found.old.insert(found.old.end(), rest.begin(), rest.end());
    found.copies.resize(importance.size());
    for (std::int64_t i : found.old) ++found.copies[static_cast<std::size_t>(i)];
    return found;
  }

  void find_sources() {
    const auto importances = importance();
    for (std::size_t group = 0; group < importances.size(); ++group) {
      const auto old = static_cast<std::int64_t>(importances[group].size());
      const std::int64_t width = widths_[group] > 0 ? widths_[group] : old;
      sources_.push_back(old > 0 ? sources(importances[group], width) : Sources());
    }
  }

  Elements elements_of(const ChannelRuns& runs) const {
    Elements elements;
    std::int64_t first = 0;
    for (const ChannelRun& run : map_.space.resolve(runs)) {
      const Sources& sources = sources_[static_cast<std::size_t>(run.group)];
      std::vector<bool> seen(sources.copies.size());
      for (std::int64_t channel : sources.old) {
        const auto at = static_cast<std::size_t>(channel);
        for (std::int64_t i = 0; i < run.repeat; ++i) {
          elements.old.push_back(first + channel * run.repeat + i);
          elements.copies.push_back(sources.copies[at]);
          elements.is_copy.push_back(seen[at]);
        }
        seen[at] = true;
      }
      first += map_.space.unit(run.group).width * run.repeat;
    }
    return elements;
  }

  /// Net2WiderNet (Chen, Goodfellow, Shlens: "Net2Net", ICLR 2016): copies of a channel share the
  /// weight with which it was read.
  void resize(const std::string& path, const ParameterChannels& channels) {
    Array& value = graph_.tensors.at(path).value;
    for (std::size_t d = 0; d < channels.layout.size(); ++d) {
      if (!changes(channels.layout[d])) continue;
      const Elements elements = elements_of(channels.layout[d]);
      value = taken(value, d, elements.old);
      if (static_cast<int>(d) == channels.contracted)
        for_each_along(value, d, [&](std::size_t i, float& w) {
          w /= static_cast<float>(elements.copies[i]);
        });
      if (static_cast<int>(d) == channels.produced && options_.noise > 0)
        add_noise(path, value, d, elements.is_copy);
    }
  }

  /// Copies start to differ, or training would keep them equal.
  void add_noise(const std::string& path, Array& value, std::size_t axis,
                 const std::vector<bool>& is_copy) const {
    if (value.dtype() != DType::float32) return;
    Random random(options_.seed, stream_of(path));
    for_each_along(value, axis, [&](std::size_t i, float& w) {
      if (is_copy[i]) w *= static_cast<float>(1 + options_.noise * random.normal());
    });
  }

  /// Each tensor has its own stream, by its place, as the models' initial weights have.
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

  /// What torch.nn starts with: uniform weights and biases of layers, norms that change nothing.
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
  std::vector<Sources> sources_;  ///< by group
};

}  // namespace

void resize_channels(ir::Graph& graph, const ChannelMap& map, const ChannelWidths& widths,
                     const ResizeOptions& options) {
  Resizer(graph, map, widths, options).run();
}

}  // namespace mase::passes
