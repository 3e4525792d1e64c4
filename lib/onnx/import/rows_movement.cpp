// SPDX-License-Identifier: Apache-2.0
// Rows that repeat elements or move them between dimensions.
#include <algorithm>

#include "onnx/import/host.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/quantizer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// Both shapes broadcast: a size of 1 keeps the operand's.
void expand(Call& call) {
  const std::vector<ir::Value> given = call.sizes(1);
  const auto rank = static_cast<std::size_t>(call.rank(0));
  std::vector<ir::Value> sizes(std::max(rank, given.size()), ir::Value(-1));
  const std::size_t before = sizes.size() - given.size(), added = sizes.size() - rank;
  for (std::size_t i = before; i < sizes.size(); ++i) {
    const ir::Value& size = given[i - before];
    if (i < added || size != ir::Value(1)) sizes[i] = size;
  }
  call.result(call.emit("aten::expand",
                        {{"self", call.ref(0)}, {"size", ir::Value::list(std::move(sizes))}}));
}

/// A parameter keeps its name, and can be trained, as a tensor of the graph.
std::optional<HostTensor> host_expand(Call& call) {
  if (call.is_parameter() && numel(call.shape(0)) > 1) return std::nullopt;
  const HostTensor tensor = call.host(0), sizes = call.host(1);
  if (!sizes.is_constant()) return std::nullopt;
  const auto shape = broadcast_shape(tensor.shape, call.integers(1));
  if (!shape || numel(*shape) > most_host_items) return std::nullopt;
  return picked(tensor, *shape, broadcast_places(tensor.shape, *shape));
}

void tile(Call& call) {
  call.result(call.emit("aten::repeat",
                        {{"self", call.ref(0)}, {"repeats", ir::Value::list(call.sizes(1))}}));
}

void triangle(Call& call) {
  const auto diagonal = call.has(1) ? call.integers(1) : std::vector<std::int64_t>{0};
  if (diagonal.size() != 1) call.wrong("its k is not one number");
  const bool upper = call.integer("upper", 1) != 0;
  call.result(call.emit(upper ? "aten::triu" : "aten::tril",
                        {{"self", call.ref(0)}, {"diagonal", diagonal[0]}}));
}

/// N, C, H, W of the operand.
std::vector<ir::Value> image_sizes(Call& call) {
  if (call.rank(0) != 4) call.wrong("its operand is not [N, C, H, W]");
  return sizes_of(call, call.tensor(0));
}

std::int64_t block_size(Call& call) {
  const std::int64_t size = call.integer("blocksize", 0);
  if (size <= 0) call.wrong("its blocksize is not positive");
  return size;
}

void depth_to_space(Call& call) {
  const std::int64_t block = block_size(call);
  if (call.text("mode", "DCR") == "CRD")
    return call.result(
        call.emit("aten::pixel_shuffle", {{"self", call.ref(0)}, {"upscale_factor", block}}));
  const auto in = image_sizes(call);
  const ir::Value channels = quotient(call, in[1], block * block);
  const ir::NodeId parts =
      reshaped(call, call.tensor(0), {in[0], block, block, channels, in[2], in[3]});
  call.result(
      reshaped(call, permuted(call, parts, {0, 3, 4, 1, 5, 2}),
               {in[0], channels, product(call, in[2], block), product(call, in[3], block)}));
}

void space_to_depth(Call& call) {
  const std::int64_t block = block_size(call);
  if (call.text("mode", "DCR") == "CRD")
    return call.result(
        call.emit("aten::pixel_unshuffle", {{"self", call.ref(0)}, {"downscale_factor", block}}));
  const auto in = image_sizes(call);
  const ir::Value height = quotient(call, in[2], block), width = quotient(call, in[3], block);
  const ir::NodeId parts =
      reshaped(call, call.tensor(0), {in[0], in[1], height, block, width, block});
  call.result(reshaped(call, permuted(call, parts, {0, 3, 5, 1, 2, 4}),
                       {in[0], product(call, in[1], block * block), height, width}));
}

void einsum(Call& call) {
  std::vector<ir::Value> tensors;
  for (std::size_t i = 0; i < call.count(); ++i) tensors.push_back(call.ref(i));
  call.result(call.emit("aten::einsum", {{"equation", call.text("equation", "")},
                                         {"tensors", ir::Value::list(std::move(tensors))}}));
}

/// Columns of windows to the image that they sum up to.
void columns_to_image(Call& call) {
  const auto image = call.integers(1), block = call.integers(2);
  if (image.size() != 2) call.refuse("images of other than two dimensions have no counterpart");
  const std::vector<std::int64_t> ones{1, 1}, zeros{0, 0, 0, 0};
  const auto pads = call.integers("pads").value_or(zeros);
  if (pads.size() != 4 || pads[0] != pads[2] || pads[1] != pads[3])
    call.refuse("its pads are not the same on both sides");
  call.result(
      call.emit("aten::col2im", {{"self", call.ref(0)},
                                 {"output_size", list_of(image)},
                                 {"kernel_size", list_of(block)},
                                 {"dilation", list_of(call.integers("dilations").value_or(ones))},
                                 {"padding", list_of({pads[0], pads[1]})},
                                 {"stride", list_of(call.integers("strides").value_or(ones))}}));
}

void determinant(Call& call) { call.result(call.emit("aten::linalg_det", {{"A", call.ref(0)}})); }

}  // namespace

std::vector<Row> movement_rows() {
  return {
      {"Expand", 8, moving(expand), host_expand},
      {"Tile", 6, moving(tile)},
      {"Trilu", 14, triangle},
      {"DepthToSpace", 1, moving(depth_to_space)},
      {"SpaceToDepth", 1, moving(space_to_depth)},
      {"Einsum", 12, einsum},
      {"Col2Im", 18, columns_to_image},
      {"Det", 11, determinant},
  };
}

}  // namespace mase::onnx
