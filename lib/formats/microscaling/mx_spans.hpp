// SPDX-License-Identifier: Apache-2.0
// Microscaling formats over whole tensors: kernels where there are some, else the definition.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "formats/encoding.hpp"
#include "formats/format.hpp"
#include "formats/microscaling/mx_kernel.hpp"
#include "formats/microscaling/mx_scalar.hpp"
#include "formats/tiling.hpp"

namespace mase::formats {

/// Which elements of a tensor share a scale, and the order in which scales are stored.
struct MxBlocks {
  Tiling tiling;  ///< of the tensor; of its moved elements when `moves_elements`
  /// The dimensions before the block axis, the axis and those after it, each as one.
  std::int64_t outer = 1, axis = 1, inner = 1;
  /// Profile `reference`: elements are put in order with the block axis last, and blocks cross
  /// lines.
  bool moves_elements = false;
};

/// Blocks of `block_size` along `block_dim`, scales with that axis last; short last blocks.
MxBlocks line_blocks(const Shape& shape, std::int64_t block_size, int block_dim);
/// The runs of profile `reference`: lines where block_size divides the dimension.
/// Error(Fault::config) when block_size does not divide the elements.
MxBlocks run_blocks(const Shape& shape, std::int64_t block_size, int block_dim);
/// Tiles that must divide the last two dimensions; scales in the tiles' order.
MxBlocks divided_blocks(const Shape& shape, std::span<const int> parallelism);

/// Scale codes in the tiles' order to the stored order, which has the block axis last, and back.
std::vector<std::uint32_t> scales_last(const MxBlocks& blocks,
                                       std::span<const std::uint32_t> in_tile_order);
std::vector<std::uint32_t> scales_in_order(const MxBlocks& blocks,
                                           std::span<const std::uint32_t> stored);

/// Packs one code per block, in the stored order; they come in the tiles' order.
class ScalePacker {
 public:
  ScalePacker(const MxBlocks& blocks, int bits);
  void append(std::span<const std::uint32_t> codes) { packer_.append(codes); }
  PackedCodes finish();

 private:
  const MxBlocks& blocks_;
  CodePacker packer_;
};

/// An element format as the kernels see it.
kernels::MxGrid mx_grid(const std::optional<MinifloatSpec>& minifloat, int width);

/// Fake quantization; `in` and `out` may be the same memory.
void quantize_mx(const MxSpec& spec, const MxBlocks& blocks, std::span<const float> in,
                 std::span<float> out, simd::Isa isa = simd::best_isa());

/// Codes in the elements' order and one scale code per block. Error(Fault::file) for a NaN where
/// the scale has no NaN code; `format` is its name.
Encoded encode_mx(const MxSpec& spec, const MxBlocks& blocks, std::span<const float> in,
                  std::string_view format);

/// Error(Fault::file) when number or width of codes or scale codes do not fit.
void decode_mx(const MxSpec& spec, const MxBlocks& blocks, const Encoded& in, std::span<float> out);

/// The dimension of tiles that stored scales have last; -1 where that is the tiles' own order.
int last_dimension(const MxBlocks& blocks);

/// Elements times powers; nullopt in profile `reference`.
std::optional<Decoding> mx_decoding(const MxSpec& spec, const MxBlocks& blocks);

/// Where an element lies beyond the largest or smallest value of its block; in a NaN block where it
/// is infinite.
void saturates_mx(const MxSpec& spec, const MxBlocks& blocks, std::span<const float> in,
                  std::span<std::uint8_t> mask);

/// The largest and smallest value under the largest scale.
Range mx_range(const MxSpec& spec);

/// TorchScript body (Format::torchscript) of the blocks that `blocks` makes of tensors of this
/// rank. Error(Fault::unsupported) for stochastic rounding.
std::string mx_torchscript(const MxSpec& spec, std::int64_t block_size, int block_dim, int rank);
std::string mx_tiles_torchscript(const MxSpec& spec, std::span<const int> parallelism, int rank);

/// (element bits + scale bits of all blocks) per element.
double mx_bits(const MxSpec& spec, const MxBlocks& blocks);

}  // namespace mase::formats
