// SPDX-License-Identifier: Apache-2.0
// Which widths fit which block.
#include "hardware/design/folding/packing.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "hardware/design/numbers.hpp"

namespace mase::design {
namespace {

// AMD UG479 (7 series DSP48E1), UG579 (UltraScale DSP48E2), AM004 (Versal DSP58); Lattice
// FPGA-TN-02205 (ECP5 sysDSP). The adder in front of a multiplier is as wide as its operand.
// A product of four known bits is eight wide, the most that synthesis leaves to LUTs on Xilinx
// parts; for ECP5 it makes DSP blocks of all that have more than one.
constexpr auto blocks = std::to_array<DspBlock>({{"dsp48e1", 25, 18, 48, 4},
                                                 {"dsp48e2", 27, 18, 48, 4},
                                                 {"dsp58", 27, 24, 58, 4},
                                                 {"mult18x18d", 18, 18, 0, 1},
                                                 {"none", 0, 0, 0, 0}});

struct Range {
  Wide low, high;
};

/// The range of one output's sum over all lanes, for any codes of the types.
Range sum_range(const SharedProducts& shared) {
  const integer::FixedType &a = shared.activation, &w = shared.weight;
  const auto [low, high] =
      std::minmax({a.low() * w.low(), a.low() * w.high(), a.high() * w.low(), a.high() * w.high()});
  return {low * shared.lanes, high * shared.lanes};
}

/// Signed bits of a lower field. Between two others it takes over what the one below does not hold.
int field_bits(const SharedProducts& shared, std::int64_t outputs, int known) {
  Range range = sum_range(shared);
  if (outputs > 2) {
    const Wide most = Wide{1} << std::max(0, known - 1);
    range = {range.low - most, range.high + most - 1};
  }
  return integer::signed_width(range.low, range.high);
}

int signed_bits(const integer::FixedType& type) { return type.width + (type.is_signed ? 0 : 1); }

bool fits(const SharedProducts& shared, const Packing& packing, const DspBlock& block) {
  const int a = signed_bits(shared.activation), w = signed_bits(shared.weight);
  const std::int64_t below = (packing.outputs - 1) * packing.pitch;
  const int known = known_bits(shared, packing);
  return a <= block.narrow && known <= block.known && known <= packing.pitch &&
         (block.sum == 0 || below + a + w + log2_ceiling(shared.lanes) <= block.sum);
}

}  // namespace

const DspBlock& dsp_block(std::string_view name) {
  const auto* it = std::ranges::find(blocks, name, &DspBlock::name);
  MASE_CHECK(it != blocks.end(), "no DSP block " + std::string(name));
  return *it;
}

int known_bits(const SharedProducts& shared, const Packing& packing) {
  int known = 0;
  while (field_bits(shared, packing.outputs, known) > packing.pitch + known) ++known;
  return known;
}

std::vector<Packing> packings(const SharedProducts& shared, const DspBlock& block) {
  std::vector<Packing> found;
  const std::int64_t room = block.wide - signed_bits(shared.weight) - 1;
  for (std::int64_t outputs = 2; outputs <= shared.outputs && outputs - 1 <= room; ++outputs) {
    const std::int64_t need = field_bits(shared, outputs, 0);
    const Packing packing{outputs, std::min(room / (outputs - 1), need)};
    if (!fits(shared, packing, block)) break;
    found.push_back(packing);
  }
  return found;
}

}  // namespace mase::design
