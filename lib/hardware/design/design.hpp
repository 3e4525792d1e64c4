// Design: a program as hardware, instances joined by streams, with memory images and predictions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hardware/design/parameters.hpp"
#include "hardware/integer/program.hpp"

namespace mase::design {

/// Resources of a 7-series part. `carry` counts CARRY4, `bram` RAMB36 (a RAMB18 is one half).
struct Cost {
  double lut = 0, ff = 0, carry = 0, dsp = 0, bram = 0;
  Cost& operator+=(const Cost& other);
};
/// `count` times the same.
Cost scaled(const Cost& cost, double count);

enum class Multiplier {
  automatic,  ///< DSP blocks where the tool would use them
  dsp,
  fabric,  ///< our own Booth rows in LUTs and carry chains
};

/// How far one step is unfolded; both divide what they count (see README, parallelism).
struct Fold {
  std::int64_t in_lanes = 1;     ///< elements taken per cycle: SIMD of a linear or convolution
  std::int64_t out_lanes = 1;    ///< elements given per cycle: PE of a linear or convolution
  bool parallel_window = false;  ///< a convolution's whole window per cycle
  Multiplier multiplier = Multiplier::automatic;
  bool operator==(const Fold&) const = default;
};
using Folding = std::map<std::string, Fold>;  ///< by Step::name

using StreamId = int;

/// A stream: `lanes` elements of `bits` bits per beat, element 0 in the low bits.
struct Stream {
  std::string name;
  std::int64_t lanes = 1;
  integer::FixedType type;
  std::int64_t elements = 0;    ///< per frame
  integer::ValueId value = -1;  ///< of the program; -1 inside a step (a window's output)

  std::int64_t beats() const { return elements / lanes; }
  std::int64_t width() const { return lanes * type.width; }
};

/// A memory image for $readmemh: hex words without prefix, word 0 first.
struct Memory {
  std::string file;         ///< "fc1_weight.mem"
  std::string layer, what;  ///< "fc1", "weight"
  std::int64_t word_bits = 0;
  std::vector<std::string> words;
};

struct Instance {
  std::string name;    ///< unique, a legal identifier
  std::string module;  ///< of module_table()
  std::string layer;   ///< graph node it belongs to; empty for plumbing between layers
  Parameters parameters;
  std::vector<StreamId> inputs, outputs;  ///< in the order of the module's ports
};

/// Cycles when nothing stalls: inputs always offered, outputs always taken. Found by running the
/// controls; counted as in simulation, from the first input beat of a frame in an idle design.
struct Timing {
  std::int64_t first = 0;     ///< first input beat taken to first output beat given
  std::int64_t last = 0;      ///< first input beat taken to last output beat given
  std::int64_t interval = 0;  ///< between frames in steady state
};

struct Design {
  std::string name = "top";
  std::shared_ptr<const integer::Program> program;  ///< null for single modules under test
  Folding folding;
  std::vector<Stream> streams;
  std::vector<Instance> instances;
  std::vector<StreamId> inputs, outputs;
  std::vector<Memory> memories;
  Timing timing;

  const Stream& stream(StreamId id) const { return streams[static_cast<std::size_t>(id)]; }
  const Memory* find_memory(const std::string& file) const;
};

/// Builds instances and streams of every step, forks where a value has several consumers, width
/// converters, FIFOs with the depths that the controls ask for, memory images, and the timing.
/// Error(Fault::config) for folds that do not divide, naming step, number and what would divide.
Design build(std::shared_ptr<const integer::Program> program, const Folding& folding);

/// Runs the controls without stalls until the interval between frames is steady; internal error
/// naming the blocked instances when the design deadlocks.
Timing predict(const Design& design);

/// FIFO instances get depths at which the slowest step sets the interval and nothing deadlocks
/// under any stalls; those that skids can do without are taken out. How: the most beats that each
/// holds when all are unbounded and inputs come evenly, with pipelines as they are and with the
/// least that these can be relied on for; then shrunk while the schedule stays (see
/// size_fifos.cpp). Sets the timing where these runs have shown it.
void size_fifos(Design& design);

Cost cost(const Design& design);  ///< of everything
std::map<std::string, Cost> cost_by_instance(const Design&);

/// What the user asks for; the search picks the folding.
struct Target {
  std::optional<std::int64_t> initiation_interval;  ///< cycles between frames, at most
  std::optional<double> lut, dsp, bram;             ///< limits of the part
  Multiplier multiplier = Multiplier::automatic;
  std::optional<std::int64_t> max_lanes;  ///< bound of every lane count that is not fixed
  /// Cycles by which steps are to be faster than the interval where they can: for what windows add.
  std::int64_t slack = 0;
  /// Folds fixed by the user, by graph node; lanes of 0 are left to the search.
  std::map<std::string, Fold> layers;
};

/// Cheapest folding (LUT + 30 DSP + 200 BRAM) that meets the interval, or the fastest that fits
/// the limits: an exact search over the divisors of every step. Without both: the fastest within
/// max_lanes; without that too, one element per cycle at the ports, slowed down to as many cycles
/// as 256 multipliers need. Error(Fault::goal) naming the smallest interval or resources that can
/// be had when the target cannot be met, Error(Fault::config) for fixed folds that do not divide.
Folding choose_folding(const integer::Program& program, const Target& target);

/// `choose_folding` and `build`. Intervals of steps are closed forms; should plumbing make the
/// whole slower than the target, the search is repeated for a shorter interval.
Design build_for(std::shared_ptr<const integer::Program> program, const Target& target);

/// Interval of one step under a fold, in cycles per frame (closed form).
std::int64_t step_interval(const integer::Program& program, const integer::Step& step,
                           const Fold& fold);

}  // namespace mase::design
