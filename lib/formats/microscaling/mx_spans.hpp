// SPDX-License-Identifier: Apache-2.0
// Microscaling formats over whole tensors, by kernels or, where there are none, the definition.
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
  Tiling tiling;  ///< tiles of the tensor, or of its moved elements when `moves_elements`
  /// Sizes: all dimensions before the block axis, the axis, and all dimensions after it.
  std::int64_t outer = 1, axis = 1, inner = 1;
  /// Profile `reference`: elements are reordered with the block axis last, and blocks may cross
  /// lines.
  bool moves_elements = false;
};

/// Blocks of `block_size` along `block_dim`, the last may be short; scales have that axis last.
MxBlocks line_blocks(const Shape& shape, std::int64_t block_size, int block_dim);
/// The runs of profile `reference`, which are lines when block_size divides the dimension.
/// Error(Fault::config) when block_size does not divide the number of elements.
MxBlocks run_blocks(const Shape& shape, std::int64_t block_size, int block_dim);
/// Tiles that must divide the last two dimensions; scales are in the tiles' order.
MxBlocks divided_blocks(const Shape& shape, std::span<const int> parallelism);

/// Puts scale codes from the tiles' order into the stored order (block axis last), and back.
std::vector<std::uint32_t> scales_last(const MxBlocks& blocks,
                                       std::span<const std::uint32_t> in_tile_order);
std::vector<std::uint32_t> scales_in_order(const MxBlocks& blocks,
                                           std::span<const std::uint32_t> stored);

/// Packs one code per block in the stored order; codes arrive in the tiles' order.
class ScalePacker {
 public:
  ScalePacker(const MxBlocks& blocks, int bits);
  void append(std::span<const std::uint32_t> codes) { packer_.append(codes); }
  PackedCodes finish();

 private:
  const MxBlocks& blocks_;
  CodePacker packer_;
};

/// An element format as numbers for kernels.
kernels::MxGrid mx_grid(const std::optional<MinifloatSpec>& minifloat, int width);

/// Fake quantization; `in` and `out` may be the same memory.
void quantize_mx(const MxSpec& spec, const MxBlocks& blocks, std::span<const float> in,
                 std::span<float> out, simd::Isa isa = simd::best_isa());

/// The same by a kernel for GPUs; null without one.
DeviceQuantizer mx_on_device(const MxSpec& spec, const MxBlocks& blocks);

/// Codes in the elements' order and one scale code per block. Error(Fault::file) for a NaN when the
/// scale has no NaN code; `format` is the format's name.
Encoded encode_mx(const MxSpec& spec, const MxBlocks& blocks, std::span<const float> in,
                  std::string_view format);

/// Decodes; Error(Fault::file) when the number or width of codes or scale codes does not fit.
void decode_mx(const MxSpec& spec, const MxBlocks& blocks, const Encoded& in, std::span<float> out);

/// The dimension of tiles that comes last in stored scales; -1 when they are in the tiles' order.
int last_dimension(const MxBlocks& blocks);

/// Elements times powers; nullopt in profile `reference`.
std::optional<Decoding> mx_decoding(const MxSpec& spec, const MxBlocks& blocks);

/// mask[i] = 1 when an element lies beyond the largest or smallest value of its block; in a NaN
/// block, when it is infinite.
void saturates_mx(const MxSpec& spec, const MxBlocks& blocks, std::span<const float> in,
                  std::span<std::uint8_t> mask);

/// The largest and smallest value under the largest scale.
Range mx_range(const MxSpec& spec);

/// The TorchScript body (Format::torchscript) for the blocks that `blocks` makes of tensors of this
/// rank. Error(Fault::unsupported) for stochastic rounding.
std::string mx_torchscript(const MxSpec& spec, std::int64_t block_size, int block_dim, int rank);
std::string mx_tiles_torchscript(const MxSpec& spec, std::span<const int> parallelism, int rank);

/// Bits per element: (element bits + scale bits of all blocks) / elements.
double mx_bits(const MxSpec& spec, const MxBlocks& blocks);

}  // namespace mase::formats
