// SPDX-License-Identifier: Apache-2.0
// Primitives: what hardware modules are made of, and what each costs on xc7. The modules add these
// up. What does not follow from the structure is fitted, and stands in targets/xc7.hpp. LUT RAM
// counts as the LUTs it takes up, four for a RAM32M or RAM64M. Widths are in bits, depths in words.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hardware/design/cost.hpp"
#include "hardware/design/design.hpp"
#include "hardware/design/modules/requantisation.hpp"
#include "hardware/design/numbers.hpp"
#include "hardware/design/targets/block_rules.hpp"
#include "hardware/design/targets/xc7.hpp"

namespace mase::design {

/// Costs are predicted for this target.
inline constexpr const FittedCosts& fitted = xc7_costs;

// Adders and counters.

/// CARRY4 of an adder or a counter: Yosys makes one of up to two bits without a carry chain.
double carry_chain(std::int64_t bits);
/// An adder or subtractor: a LUT a bit.
Cost adder_cost(std::int64_t bits);
/// The same with a carry in, which enters from a bit below its chain.
Cost carry_adder_cost(std::int64_t bits);
/// The larger or the smaller of two numbers: a LUT a bit to choose, and the comparison, of which
/// most stays out of the carry chain.
Cost choice_cost(std::int64_t bits);
/// A counter that wraps after so many states.
Cost counter_cost(std::int64_t states, double luts_per_bit = fitted.counter_bit);
/// One for each number of states.
Cost counters_cost(std::span<const std::int64_t> states, double luts_per_bit = fitted.counter_bit);

/// LUTs of a bit of a number that is shifted by a distance of so many bits.
double shifter_luts(int distance_bits);

// Memories.

/// Block memory in the shape that needs the fewest blocks, and the choice among words that stand
/// above each other. Its output register is its own.
Cost block_memory_cost(std::int64_t width, std::int64_t depth);
/// LUT RAM with the choice among its parts; a register behind it is the caller's.
Cost lut_memory_cost(std::int64_t width, std::int64_t depth);
/// hw_templates/window/mase_window_memory with its output register.
Cost window_memory_cost(std::int64_t width, std::int64_t depth);
/// hw_templates/matrix/mase_rom in LUTs, with its register. The words matter: `image`, or random
/// ones when that is null.
Cost table_cost(std::int64_t width, std::int64_t depth, const Memory* image = nullptr);
/// hw_templates/matrix/mase_reload_memory, in block memory or not, with its register.
Cost reload_memory_cost(std::int64_t width, std::int64_t depth, bool block);
/// The words of an image, which a host may replace in a reloadable design, as mase_lookup keeps
/// them.
Cost kept_image_cost(const Design& design, std::int64_t width, std::int64_t depth,
                     const std::string& file);
/// Bit `index` of a number in hexadecimal, bit 0 the lowest.
bool hex_bit(const std::string& digits, std::int64_t index);
/// `count` of them, at most 64, from bit `first` on.
std::uint64_t hex_bits(const std::string& digits, std::int64_t first, int count);

// Products.

/// DSP48E1 of a product of signed operands, or 0 where Yosys uses LUTs: operands of one bit, or
/// fewer than nine bits of product; operands wider than 25 x 18 are split.
std::int64_t dsp_blocks(int a, int b, int product);
/// LUTs of a product that Yosys makes itself.
double product_luts(int a, int b);
/// hw_templates/matrix/mase_multiply of signed operands, without registers; `multiplier` is the
/// module's parameter MULTIPLIER.
Cost product_cost(int a, int b, std::int64_t multiplier);

// Requantisation.

/// Bits of a number, without copies of the sign; unsigned numbers have no sign bit.
struct Width {
  int bits = 0;
  bool is_signed = true;
};
/// Bits of an operand as a signed number.
inline int signed_bits(Width operand) { return operand.bits + (operand.is_signed ? 0 : 1); }

/// Half of the divisor, which rounding to nearest adds. Accumulators start with it, so that it
/// needs no adder of its own; 0 where that cannot be.
Wide rounding_half(const Requantisation& requantisation);
/// What decides how long the rounding of a number takes.
struct Rounding {
  int sum = 0;            ///< bits of the number that is rounded
  int decides = 0;        ///< bits that tell whether a bound is passed, or a tie
  double digits = 1;      ///< rows of the product that divides; 1: a shift
  bool adds = false;      ///< half of the divisor
  bool late = false;      ///< comparisons come behind that sum
  bool compares = false;  ///< with a bound that is not a power of two
};
/// `halved`: the number begins with half of the divisor.
Rounding rounding_of(const Requantisation& requantisation, Width width, bool halved = false);
/// hw_templates/elementwise/mase_requantise_stage with the parameters of a module, from numbers of
/// a width, without the choice between quotient and bounds: a skid behind it takes that into its
/// own LUTs.
Cost requantise_stage_cost(const Requantisation& requantisation, Width width, bool halved = false);

// Skids.

/// hw_templates/plumbing/mase_skid.
Cost skid_cost(std::int64_t width);
/// What every pipeline ends in: valid bits and the skid.
Cost output_cost(std::int64_t width, std::int64_t stages);

}  // namespace mase::design
