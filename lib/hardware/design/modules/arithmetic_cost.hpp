// Costs on xc7 of the parts that matrix modules are made of. Where a number is no consequence of
// the structure it was fitted to Yosys 0.23 with scripts/bench/calibrate.py.
#pragma once

#include <cstdint>
#include <string>

#include "hardware/design/design.hpp"
#include "hardware/design/numbers.hpp"

namespace mase::design {

/// An adder or subtractor: a LUT a bit, four bits a CARRY4.
Cost adder_cost(double bits);

/// hw_templates/matrix/mase_rom, in block memory from eight words and 1024 bits on. In LUTs the
/// words matter: `image`, or random ones when that is null.
Cost rom_cost(std::int64_t width, std::int64_t depth, const Memory* image = nullptr);
/// The same in LUTs, however large.
Cost table_cost(std::int64_t width, std::int64_t depth, const Memory* image);
/// The image that a parameter of the instance names; null when the design has none.
const Memory* image_of(const Design& design, const Instance& instance, const char* parameter);
/// Bit `index` of a number in hexadecimal.
bool hex_bit(const std::string& digits, std::int64_t index);

/// CARRY4 of a counter of some bits: up to three Yosys makes it without a carry chain.
double counter_carry(int bits);
/// A counter that wraps after so many states.
Cost counter_cost(std::int64_t states);

/// hw_templates/matrix/mase_replay.
Cost replay_cost(std::int64_t width, std::int64_t depth);

/// The operands of a dot product as signed numbers.
struct DotShape {
  std::int64_t lanes = 1;
  int a = 8, b = 8;  ///< bits of the signed operands
  int sum = 16;      ///< bits of the accumulator
};
/// hw_templates/matrix/mase_dot with Booth rows.
Cost dot_booth_cost(const DotShape& shape);
/// hw_templates/matrix/mase_dot with the tool's multipliers.
Cost dot_multiply_cost(const DotShape& shape);

/// Bits of a number, without copies of the sign; unsigned numbers have no sign bit.
struct Width {
  int bits = 0;
  bool is_signed = true;
};

/// hw_templates/elementwise/mase_requantise with the parameters of `instance`, from numbers of a
/// width, without the choice between quotient and bounds: a skid behind it takes that into its own
/// LUTs.
Cost clamp_cost(const Instance& instance, Width width);
/// LUTs of that choice in front of plain registers: one per output bit in which the bounds differ.
/// The other bits are set or reset by their registers, as all are where one bound only can be
/// passed.
double clamp_choice(const Instance& instance, Width width);

/// hw_templates/plumbing/mase_skid.
Cost buffer_cost(std::int64_t width);
}  // namespace mase::design
