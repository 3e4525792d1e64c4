// SPDX-License-Identifier: Apache-2.0
// nvfp4 over whole tensors: kernels where there are some, else the definition.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "formats/format.hpp"
#include "formats/microscaling/mx_spans.hpp"
#include "formats/microscaling/nvfp4_scalar.hpp"

namespace mase::formats {

/// All parameters of nvfp4, resolved.
struct Nvfp4Spec {
  bool two_levels = true;
  std::optional<float> tensor_scale;  ///< of two levels; none: from the tensor's largest magnitude
  Rounding rounding = Rounding::nearest_even;
  std::uint64_t seed = 0;
};

/// Fake quantization; `in` and `out` may be the same memory.
void quantize_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, std::span<const float> in,
                    std::span<float> out, simd::Isa isa = simd::best_isa());

/// 4-bit codes, an e4m3fn code per block (0x7f: the block is NaN), and the tensor's scale in
/// `scales` where there are two levels.
Encoded encode_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, std::span<const float> in);

/// Error(Fault::file) when codes or scales do not fit.
/// Elements times scales of blocks, times the tensor's where there are two levels.
Decoding nvfp4_decoding(const Nvfp4Spec& spec, const MxBlocks& blocks);
void decode_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, const Encoded& in,
                  std::span<float> out);

/// Where an element lies beyond +-6 times its scales; in a NaN block where it is infinite.
void saturates_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, std::span<const float> in,
                     std::span<std::uint8_t> mask);

/// 4 bits per element, 8 per block, and the tensor's scale.
double nvfp4_bits(const Nvfp4Spec& spec, const MxBlocks& blocks);

/// TorchScript body (Format::torchscript). Error(Fault::unsupported) for stochastic rounding.
std::string nvfp4_torchscript(const Nvfp4Spec& spec, std::int64_t block_size, int block_dim,
                              int rank);

}  // namespace mase::formats
