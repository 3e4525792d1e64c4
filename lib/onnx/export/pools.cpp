// SPDX-License-Identifier: Apache-2.0
// Rows of pools, and of images in other sizes.
#include <algorithm>

#include "onnx/export/rows.hpp"

namespace mase::onnx {
namespace {

/// The number of dimensions of the windows of a pool, by the name of its operator.
std::size_t spatial_of(const NodeWriter& node) {
  if (node.node().op.find("3d") != std::string::npos) return 3;
  return node.node().op.find("1d") != std::string::npos ? 1 : 2;
}

/// Pools over the last dimensions; a sample without a batch gets one of 1.
void pool(NodeWriter& node, std::string_view op, Attributes attributes) {
  const std::string x = node.tensor("self");
  const bool alone = node.rank("self") == static_cast<std::int64_t>(spatial_of(node)) + 1;
  if (!alone) return node.finish(op, {x}, std::move(attributes));
  const std::string pooled = node.write(op, {node.unsqueezed(x, {0})}, std::move(attributes));
  node.finish("Squeeze", {pooled, node.ints({0})});
}

Attributes pool_windows(NodeWriter& node) {
  const std::size_t spatial = spatial_of(node);
  const Integers kernel = node.integers("kernel_size", spatial, 1);
  const Integers given = node.integers("stride").value_or(Integers{});
  return {attribute("kernel_shape", kernel),
          attribute("strides", given.empty() ? kernel : node.integers("stride", spatial, 1)),
          attribute("pads", both_sides(node.integers("padding", spatial, 0))),
          attribute("ceil_mode", std::int64_t{node.flag("ceil_mode", false)})};
}

void max_pool(NodeWriter& node) {
  if (!node.node().info.is_tensor()) node.refuse("the places of its maxima are asked for");
  Attributes attributes = pool_windows(node);
  attributes.push_back(attribute("dilations", node.integers("dilation", spatial_of(node), 1)));
  pool(node, "MaxPool", std::move(attributes));
}

void average_pool(NodeWriter& node) {
  if (node.has("divisor_override")) node.refuse("AveragePool of ONNX has no divisor_override");
  Attributes attributes = pool_windows(node);
  attributes.push_back(
      attribute("count_include_pad", std::int64_t{node.flag("count_include_pad", true)}));
  pool(node, "AveragePool", std::move(attributes));
}

/// Row i has the mean of the window from floor(i in / out) to ceil((i + 1) in / out).
Array window_means(std::int64_t in, std::int64_t out) {
  Array means(DType::float32, {out, in});
  const auto values = means.mutable_span<float>();
  for (std::int64_t i = 0; i < out; ++i) {
    const std::int64_t begin = i * in / out, end = ((i + 1) * in + out - 1) / out;
    for (std::int64_t k = begin; k < end; ++k)
      values[static_cast<std::size_t>(i * in + k)] = 1.0F / static_cast<float>(end - begin);
  }
  return means;
}

/// Means over windows of different sizes, a product with a matrix for each dimension.
void uneven_pool(NodeWriter& node, const std::string& pool) {
  const std::size_t spatial = spatial_of(node);
  const Shape &in = node.shape("self"), &out = node.node().info.shape;
  const std::size_t first = in.size() - spatial;
  if (pool != "AveragePool" || spatial > 2 || node.result_dtype() != DType::float32)
    node.refuse("its windows have different sizes; pools of ONNX have one size");
  for (std::size_t i = first; i < in.size(); ++i)
    if (!node.fixed_size("self", static_cast<std::int64_t>(i)))
      node.refuse("the size that it divides is not known");
  std::string x = node.tensor("self");
  if (spatial == 2)
    x = node.write("MatMul", {node.constant(window_means(in[first], out[first])), x});
  const std::string columns =
      node.transposed(node.constant(window_means(in.back(), out.back())), 2, 0, 1);
  node.finish("MatMul", {x, columns});
}

/// Windows of equal size, where the output divides the input.
void adaptive_pool(NodeWriter& node, const std::string& mean) {
  const std::size_t spatial = spatial_of(node);
  const Shape& in = node.shape("self");
  const std::size_t first = in.size() - spatial;
  const Shape& out = node.node().info.shape;
  bool whole = true;
  Integers kernel;
  for (std::size_t i = first; i < in.size(); ++i) {
    whole = whole && out[i] == 1;
    const bool fixed = node.fixed_size("self", static_cast<std::int64_t>(i)).has_value();
    kernel.push_back(fixed && out[i] > 0 && in[i] % out[i] == 0 ? in[i] / out[i] : 0);
  }
  if (whole) return pool(node, "Global" + mean, {});
  if (std::ranges::find(kernel, 0) != kernel.end()) return uneven_pool(node, mean);
  pool(node, mean, {attribute("kernel_shape", kernel), attribute("strides", kernel)});
}

/// Sizes of the result's images over those of the input's, as PyTorch computes coordinates.
void resize(NodeWriter& node, Attributes attributes) {
  const Shape& in = node.shape("input");
  const std::string x = node.tensor("input");
  const ir::Value* size = node.find("output_size");
  if (size) {
    const Names all{node.shape_part(x, 0, 2), node.sizes(*size)};
    const std::string sizes = node.write("Concat", all, {along(0)});
    return node.finish("Resize", {x, "", "", sizes}, std::move(attributes));
  }
  std::vector<float> scales(in.size(), 1);
  const ir::Value* factors = node.find("scale_factors");
  const auto factor = [&](std::size_t i) {
    if (factors && factors->items().at(i).is_number()) return factors->items()[i].as_double();
    const char* names[] = {"scales_d", "scales_h", "scales_w"};
    const ir::Value* single = node.find(in.size() == 3 ? "scales" : names[i + 5 - in.size()]);
    if (!single) node.refuse("neither its size nor its scale is constant");
    return single->as_double();
  };
  for (std::size_t i = 2; i < in.size(); ++i) scales[i] = static_cast<float>(factor(i - 2));
  const auto count = static_cast<std::int64_t>(scales.size());
  node.finish("Resize", {x, "", node.constant(Array::from(scales, {count}))},
              std::move(attributes));
}

void upsample_nearest(NodeWriter& node) {
  resize(node, {attribute("mode", std::string("nearest")),
                attribute("coordinate_transformation_mode", std::string("asymmetric")),
                attribute("nearest_mode", std::string("floor"))});
}

void upsample(NodeWriter& node, const std::string& mode) {
  const bool corners = node.flag("align_corners", false);
  resize(node, {attribute("mode", mode), attribute("cubic_coeff_a", -0.75),
                attribute("coordinate_transformation_mode",
                          std::string(corners ? "align_corners" : "half_pixel"))});
}

/// [..., c r^2, h, w] as [..., c, h r, w r]
void pixel_shuffle(NodeWriter& node) {
  if (node.rank("self") != 4) node.refuse("its input is not [rows, channels, height, width]");
  node.finish("DepthToSpace", {node.tensor("self")},
              {attribute("blocksize", node.integer("upscale_factor", 1)),
               attribute("mode", std::string("CRD"))});
}

/// [n, c, h r, w r] as [n, c r^2, h, w]; SpaceToDepth has the channels in another order.
void pixel_unshuffle(NodeWriter& node) {
  if (node.rank("self") != 4) node.refuse("its input is not [rows, channels, height, width]");
  const std::int64_t r = node.integer("downscale_factor", 1), c = node.shape("self")[1];
  const std::string deep =
      node.write("SpaceToDepth", {node.tensor("self")}, {attribute("blocksize", r)});
  const std::string rows = node.shape_part(deep, 0, 1), image = node.shape_part(deep, 2, 4);
  const auto shape = [&](const Integers& channels) {
    return node.write("Concat", {rows, node.ints(channels), image}, {along(0)});
  };
  const std::string apart = node.write("Reshape", {deep, shape({r * r, c})});
  const std::string turned = node.transposed(apart, 5, 1, 2);
  node.finish("Reshape", {turned, shape({c * r * r})});
}

void grid_sampler(NodeWriter& node) {
  const char* modes[] = {"linear", "nearest", "cubic"};
  const char* paddings[] = {"zeros", "border", "reflection"};
  const auto mode = static_cast<std::size_t>(node.integer("interpolation_mode", 0));
  const auto padding = static_cast<std::size_t>(node.integer("padding_mode", 0));
  if (mode >= std::size(modes) || padding >= std::size(paddings))
    node.refuse("its mode is unknown");
  node.finish("GridSample", {node.tensor("input"), node.tensor("grid")},
              {attribute("mode", std::string(modes[mode])),
               attribute("padding_mode", std::string(paddings[padding])),
               attribute("align_corners", std::int64_t{node.flag("align_corners", false)})});
}

}  // namespace

std::vector<ExportRow> exported_pools() {
  return {
      {"aten::max_pool1d", max_pool},
      {"aten::max_pool2d", max_pool},
      {"aten::max_pool3d", max_pool},
      {"aten::avg_pool1d", average_pool},
      {"aten::avg_pool2d", average_pool},
      {"aten::avg_pool3d", average_pool},
      {"aten::adaptive_avg_pool1d", [](NodeWriter& node) { adaptive_pool(node, "AveragePool"); }},
      {"aten::adaptive_avg_pool2d", [](NodeWriter& node) { adaptive_pool(node, "AveragePool"); }},
      {"aten::adaptive_avg_pool3d", [](NodeWriter& node) { adaptive_pool(node, "AveragePool"); }},
      {"aten::adaptive_max_pool1d", [](NodeWriter& node) { adaptive_pool(node, "MaxPool"); }},
      {"aten::adaptive_max_pool2d", [](NodeWriter& node) { adaptive_pool(node, "MaxPool"); }},
      {"aten::adaptive_max_pool3d", [](NodeWriter& node) { adaptive_pool(node, "MaxPool"); }},
      {"aten::upsample_nearest1d", upsample_nearest},
      {"aten::upsample_nearest2d", upsample_nearest},
      {"aten::upsample_nearest3d", upsample_nearest},
      {"aten::upsample_linear1d", [](NodeWriter& node) { upsample(node, "linear"); }},
      {"aten::upsample_bilinear2d", [](NodeWriter& node) { upsample(node, "linear"); }},
      {"aten::upsample_trilinear3d", [](NodeWriter& node) { upsample(node, "linear"); }},
      {"aten::upsample_bicubic2d", [](NodeWriter& node) { upsample(node, "cubic"); }},
      {"aten::pixel_shuffle", pixel_shuffle},
      {"aten::pixel_unshuffle", pixel_unshuffle},
      {"aten::grid_sampler", grid_sampler},
      {"aten::affine_grid_generator",
       [](NodeWriter& node) {
         node.finish("AffineGrid", {node.tensor("theta"), node.sizes(*node.find("size"))},
                     {attribute("align_corners", std::int64_t{node.flag("align_corners", false)})});
       }},
  };
}

}  // namespace mase::onnx
