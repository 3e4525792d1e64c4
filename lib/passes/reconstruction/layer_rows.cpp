// SPDX-License-Identifier: Apache-2.0
// Reads the geometry of layers, and cuts inputs into the windows that outputs read.
#include "passes/reconstruction/layer_rows.hpp"

#include "base/error.hpp"

namespace mase::passes {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// One integer for every spatial dimension: a list, or a single number for all of them.
Shape per_dimension(const ir::Value* value, std::size_t rank, std::int64_t fallback) {
  if (value == nullptr || value->is_none()) return Shape(rank, fallback);
  if (value->kind() == ir::Value::Kind::integer) return Shape(rank, value->as_int());
  Shape shape;
  for (const ir::Value& item : value->items()) shape.push_back(item.as_int());
  if (shape.size() == 1) shape.resize(rank, shape.front());
  return shape;
}

/// The padding in front: "same" puts an odd zero at the end, "valid" has no padding.
Shape padding_of(const ir::Value* value, const LayerGeometry& geometry) {
  const std::size_t rank = geometry.kernel.size();
  if (value == nullptr || value->kind() != ir::Value::Kind::string)
    return per_dimension(value, rank, 0);
  Shape padding(rank, 0);
  if (value->as_string() == "same")
    for (std::size_t d = 0; d < rank; ++d)
      padding[d] = geometry.dilation[d] * (geometry.kernel[d] - 1) / 2;
  return padding;
}

Shape outputs_of(const ir::Node& node, std::size_t rank) {
  const Shape& shape = node.info.shape;
  MASE_CHECK(shape.size() >= rank, "convolution with a result of too few dimensions");
  return {shape.end() - static_cast<std::ptrdiff_t>(rank), shape.end()};
}

/// Walks over all positions of a box, last dimension fastest.
template <class F>
void for_each_position(const Shape& box, F&& visit) {
  Shape position(box.size(), 0);
  for (std::int64_t left = numel(box); left > 0; --left) {
    visit(position);
    for (std::size_t d = box.size(); d-- > 0;) {
      if (++position[d] < box[d]) break;
      position[d] = 0;
    }
  }
}

/// Copies windows of one sample's channels into rows.
class Windows {
 public:
  Windows(const LayerGeometry& geometry, const Shape& input)
      : geometry_(geometry),
        image_(input.end() - static_cast<std::ptrdiff_t>(geometry.kernel.size()), input.end()) {}

  /// The rows of `channels` images that lie one after another.
  std::vector<float> rows(std::span<const float> images, std::int64_t channels) const {
    const std::int64_t kernel = numel(geometry_.kernel), image = numel(image_);
    std::vector<float> rows(at(numel(geometry_.outputs) * channels * kernel));
    std::size_t next = 0;
    for_each_position(geometry_.outputs, [&](const Shape& output) {
      for (std::int64_t channel = 0; channel < channels; ++channel)
        for_each_position(geometry_.kernel, [&](const Shape& tap) {
          const std::int64_t place = place_of(output, tap);
          rows[next++] = place < 0 ? 0.0F : images[at(channel * image + place)];
        });
    });
    return rows;
  }

 private:
  /// The element that a tap of the window at `output` reads; -1 for padding.
  std::int64_t place_of(const Shape& output, const Shape& tap) const {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < tap.size(); ++d) {
      const std::int64_t i =
          output[d] * geometry_.stride[d] + tap[d] * geometry_.dilation[d] - geometry_.padding[d];
      if (i < 0 || i >= image_[d]) return -1;
      place = place * image_[d] + i;
    }
    return place;
  }

  const LayerGeometry& geometry_;
  Shape image_;
};

}  // namespace

LayerGeometry LayerGeometry::of(const ir::Graph& graph, const ir::Node& node, const Shape& weight) {
  LayerGeometry geometry;
  const std::size_t rank = weight.size() - 2;
  if (rank == 0) return geometry;
  geometry.kernel.assign(weight.begin() + 2, weight.end());
  if (const ir::Value* groups = graph.argument(node, "groups")) geometry.groups = groups->as_int();
  geometry.stride = per_dimension(graph.argument(node, "stride"), rank, 1);
  geometry.dilation = per_dimension(graph.argument(node, "dilation"), rank, 1);
  geometry.padding = padding_of(graph.argument(node, "padding"), geometry);
  geometry.outputs = outputs_of(node, rank);
  return geometry;
}

void show_rows(const LayerGeometry& geometry, const Array& input,
               const std::function<void(std::int64_t, std::span<const float>)>& see) {
  const std::span<const float> values = input.span<float>();
  if (geometry.kernel.empty()) return see(0, values);
  const Shape& shape = input.shape();
  const std::size_t rank = geometry.kernel.size();
  const std::int64_t channels = shape[shape.size() - rank - 1] / geometry.groups;
  const Windows windows(geometry, shape);
  const std::size_t size =
      at(channels * numel({shape.end() - static_cast<std::ptrdiff_t>(rank), shape.end()}));
  for (std::size_t first = 0; first < values.size(); first += size) {
    const auto group = static_cast<std::int64_t>(first / size) % geometry.groups;
    see(group, windows.rows(values.subspan(first, size), channels));
  }
}

}  // namespace mase::passes
