// SPDX-License-Identifier: Apache-2.0
// nvfp4 over whole tensors, by kernels or, where there are none, the definition.
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
  std::optional<float> tensor_scale;  ///< for two levels; nullopt: by the largest magnitude
  Rounding rounding = Rounding::nearest_even;
  Seed seed{};
};

/// Fake quantization; `in` and `out` may be the same memory.
void quantize_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, std::span<const float> in,
                    std::span<float> out, simd::Isa isa = simd::best_isa());

/// 4-bit codes, an e4m3fn code per block (0x7f for a NaN block) and, with two levels, the tensor's
/// scale in `scales`.
Encoded encode_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, std::span<const float> in);

/// Decoding: elements times scales of blocks and, with two levels, times the tensor's scale.
/// decode_nvfp4 throws Error(Fault::file) when codes or scales do not fit.
Decoding nvfp4_decoding(const Nvfp4Spec& spec, const MxBlocks& blocks);
void decode_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, const Encoded& in,
                  std::span<float> out);

/// mask[i] = 1 when an element is beyond +-6 times its scales or, in a NaN block, infinite.
void saturates_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, std::span<const float> in,
                     std::span<std::uint8_t> mask);

/// Bits per element: 4 for the element, and its share of 8 per block and of the tensor's scale.
double nvfp4_bits(const Nvfp4Spec& spec, const MxBlocks& blocks);

/// The TorchScript body (Format::torchscript); Error(Fault::unsupported) for stochastic rounding.
std::string nvfp4_torchscript(const Nvfp4Spec& spec, std::int64_t block_size, int block_dim,
                              int rank);

}  // namespace mase::formats
