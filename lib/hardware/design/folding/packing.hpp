// SPDX-License-Identifier: Apache-2.0
// Packing: the weights of several outputs in one multiplier of a DSP block, where these multiply
// the same activations. See hw_templates/matrix/mase_dot_packed.
//
// Weights w[f] stand `pitch` bits apart in one operand, sum_f w[f] * 2^(f * pitch), and so do the
// sums of products V[f] in what the blocks add up. An operand of n weights of W signed bits is a
// signed number of (n - 1) * pitch + W + 1 bits: the last one is for the least codes of all. Field
// f holds V[f] + over[f], where over[0] = 0 and over[f + 1] = floor((V[f] + over[f]) / 2^pitch).
// With V[f] + over[f] in `pitch` signed bits, over is -1 or 0, the sign of the field below.
// Otherwise V[f + 1] modulo 2^known, made of the `known` low bits of its operands, tells
// over[f + 1] from the bits of field f + 1, as long as V[f] + over[f] fits pitch + known signed
// bits and known <= pitch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/design/design.hpp"

namespace mase::design {

/// The multiplier of a family's DSP blocks: its signed operands, and the number it adds products
/// to.
struct DspBlock {
  std::string_view name;  ///< "dsp48e1"
  int wide, narrow;       ///< bits of the operands
  int sum;                ///< bits; 0: products are added outside
  int known;              ///< the most bits of a sum that are made in LUTs beside it
};

/// The block of the part that designs are for when nobody says which.
constexpr std::string_view default_dsp_block = "dsp48e1";
/// Internal error for other names.
const DspBlock& dsp_block(std::string_view name);

/// Dot products of several outputs with the same activations.
struct SharedProducts {
  integer::FixedType activation, weight;
  std::int64_t lanes = 1;    ///< activations of each
  std::int64_t outputs = 1;  ///< that share them
};

/// Bits of every upper sum that must be made in LUTs beside the multipliers: 0 where every lower
/// sum fits its field.
int known_bits(const SharedProducts& shared, const Packing& packing);

/// Every packing that a block holds, those of fewer outputs first, each with fields as wide as they
/// need and the block has.
std::vector<Packing> packings(const SharedProducts& shared, const DspBlock& block);

}  // namespace mase::design
