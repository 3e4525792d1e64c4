// SPDX-License-Identifier: Apache-2.0
// Packs and unpacks codes, for each instruction set (formats/codes.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simd/kernels.hpp"

namespace mase::formats::kernels {

/// The codes in a group, whose bytes are whole words of 32 bits for every width.
constexpr std::size_t pack_group = 32;
/// Packing may write up to so many further bytes.
constexpr std::size_t pack_padding = 32;

struct PackKernels {
  /// pack[bits - 1] packs a multiple of pack_group codes of `bits` bits; null for other widths.
  std::array<void (*)(const std::uint32_t* codes, std::size_t count, char* out), 32> pack;
  /// Unpacks `count` codes, a multiple of 8, or the first of them; returns how many it unpacked.
  /// Reads at most `size` bytes. Null when there is no kernel.
  std::size_t (*unpack)(const char* bytes, std::size_t size, int bits, std::uint32_t* out,
                        std::size_t count);
};
MASE_KERNELS(PackKernels, pack_kernels, avx512);

}  // namespace mase::formats::kernels
