// SPDX-License-Identifier: Apache-2.0
// Clock: how fast a design can be clocked, predicted from the longest paths that modules declare. A
// path is what lies on it; a technology says how long each of these takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mase::design {

struct Cost;
struct Design;
struct Instance;

/// What a path from register to register begins with.
enum class Source { logic, memory, multiplier };

/// A path from register to register, by what lies on it.
struct Path {
  std::string_view what;  ///< "accumulator"
  Source from = Source::logic;
  double luts = 0;      ///< one after another, without those of carry chains
  double chains = 0;    ///< carry chains one after another
  double carry = 0;     ///< bits that carries pass, over all chains
  double cascades = 0;  ///< DSP blocks that add what another one hands to them
  double readers = 1;   ///< of the net with the most readers
  double far = 0;       ///< wires to or from DSP blocks, which stand in few columns
  double blocks = 0;    ///< block memories for each DSP block that their words go to
};
using Paths = std::vector<Path>;

/// What makes the wires of a design long.
struct Extent {
  double kilo_luts = 0, multipliers = 0;
};

/// How much of the way to or from DSP blocks lies on the paths of sums of products.
struct Ways {
  double products = 0, direct_products = 0;  ///< from the blocks; without a cycle for the way
  double enable = 0;                         ///< to all blocks
  double weights = 0, staged_weights = 0;    ///< to the blocks; behind a register on the way
  double staged_operands = 0;                ///< to the blocks, behind a register on the way
  double kept_operands = 0;                  ///< from the block memory of a row
};

/// Delays in nanoseconds, with the wires that belong to each. The table of a technology is in
/// targets/.
struct Technology {
  std::string_view name;          ///< "ecp5": the name that Yosys gives the family
  std::string_view grade, basis;  ///< "speed grade 6", "placed": what `ns` holds for
  int lut_inputs = 4;
  std::int64_t block_bits = 16384;  ///< of a block memory, without parity
  bool adds_in_blocks = false;      ///< DSP blocks add products one after another
  double from_logic = 0, from_memory = 0, from_multiplier = 0;  ///< with the setup time at the end
  double lut = 0, chain = 0, carry = 0, cascade = 0;            ///< each; `carry` of a bit
  double readers = 0;  ///< for every doubling of the readers of a net
  double extent = 0;   ///< times the root of the design's size in 1,000 LUTs: longer wires
  double far = 0;      ///< times the root of the design's DSP blocks
  double blocks = 0;   ///< times the root of the blocks for each multiplier
  /// Standard deviation of the logarithm of placed by predicted clocks, of designs that the delays
  /// were not fitted to; 0: not known.
  double spread = 0;
  /// Whose paths say where stages are wanted, since the own ones say nothing of wires; "": the own.
  std::string_view wires_of = {};
  /// LUTs one after another for each bit of a table's address that does not enter the first LUT.
  double rom_bit = 0;
  Ways ways = {};

  double ns(const Path& path, const Extent& extent) const;
};

/// One delay of a technology, and how much of it a path takes in a design of an extent. The delay
/// of a path is the sum over all terms.
struct DelayTerm {
  std::string_view name;  ///< of the member
  double Technology::*delay;
  double (*amount)(const Path& path, const Extent& extent);
};
std::span<const DelayTerm> delay_terms();

/// What a design is for when nothing else is said.
inline constexpr double default_clock_mhz = 200;
inline constexpr std::string_view default_technology = "ecp5";

/// "ecp5", "xc7". Error(Fault::config) for others.
const Technology& technology_of(std::string_view name);
std::vector<std::string> technology_names();
/// The technology whose paths decide about pipeline stages.
const Technology& staging_technology(const Technology& technology);

/// The extent of a design of this cost.
Extent extent_of(const Cost& total);

/// The longest path of an instance of this cost: its module's, and what all modules have.
struct Slowest {
  double ns = 0;
  std::string_view what;
};
Slowest slowest_path(const Instance& instance, const Cost& cost, const Technology& technology,
                     const Extent& extent);

/// By how much the paths of an instance take longer than a period, together.
double excess_ns(const Instance& instance, const Cost& cost, const Technology& technology,
                 const Extent& extent, double period);

/// The paths that the module of an instance of this cost declares, and what all modules have.
Paths paths_of(const Instance& instance, const Cost& cost, const Technology& technology);

/// The longest path of every instance, in the order of the design.
struct Clock {
  std::vector<Slowest> instances;
  std::size_t worst = 0;             ///< index of the slowest instance
  double mhz = 0;                    ///< that the design reaches; 0 without instances
  double low_mhz = 0, high_mhz = 0;  ///< nine designs of ten are placed for a clock in between
};
/// The clock of a design whose slowest path takes so long; without instances.
Clock clock_of(double ns, const Technology& technology);
/// "150 MHz (120 to 180)", or without a range where none is known.
std::string mhz_text(const Clock& clock);
Clock clock(const Design& design, const Technology& technology);

}  // namespace mase::design
