// SPDX-License-Identifier: Apache-2.0
// Design: a program as hardware, instances joined by streams, with memory images and predictions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hardware/design/module.hpp"
#include "hardware/integer/program.hpp"

namespace mase::design {

/// What multiplies.
enum class Multiplier {
  automatic,  ///< DSP blocks where the tool would use them
  dsp,
  fabric,  ///< our own Booth rows in LUTs and carry chains
};

/// Outputs whose weights share a multiplier, `pitch` bits apart (see packing.hpp).
struct Packing {
  std::int64_t outputs = 1;
  std::int64_t pitch = 0;
  bool operator==(const Packing&) const = default;
};

/// How far one step is unfolded; both divide what they count (see README, parallelism).
struct Fold {
  std::int64_t in_lanes = 1;     ///< elements taken per cycle: SIMD of a linear or convolution
  std::int64_t out_lanes = 1;    ///< elements given per cycle: PE of a linear or convolution
  bool parallel_window = false;  ///< a convolution's whole window per cycle
  Multiplier multiplier = Multiplier::automatic;
  Packing packing = {};
  std::int64_t operand_stages = 0;  ///< registers on the operands' way to far multipliers
  std::int64_t weight_stages = 0;   ///< of these, those that the weights have, too
  std::int64_t product_stages = 0;  ///< registers behind the multipliers
  bool operator==(const Fold&) const = default;
};
using Folding = std::map<std::string, Fold>;  ///< by Step::name

/// Registers that a matrix can have where wires are long: a cycle of latency each. Weight stages
/// are among the operand stages.
struct StageKind {
  const char* key;   ///< of the record of a fold
  const char* word;  ///< of the text of a fold
  std::int64_t Fold::*count;
  std::int64_t most;  ///< that are added by themselves
};
inline constexpr StageKind stage_kinds[] = {
    {"operand_stages", "moved", &Fold::operand_stages, 2},
    {"weight_stages", "weights", &Fold::weight_stages, 2},
    {"product_stages", "behind", &Fold::product_stages, 1},
};

/// What carries beats from a port of one device to that of another, in cycles of the design.
struct LinkSettings {
  std::int64_t latency = 16;  ///< cycles from port to port
  std::int64_t width = 0;     ///< bits of TDATA; 0: those of a beat, in whole bytes
  std::int64_t interval = 1;  ///< cycles between beats of the link
  bool operator==(const LinkSettings&) const = default;
};

/// Which of several devices computes what, and what joins these.
struct Distribution {
  std::map<std::string, int> devices;  ///< by graph node; all others are on device 0
  LinkSettings links = {};

  int device(const std::string& node) const;
  bool has_links() const;  ///< whether nodes are on different devices
};
/// The device of what lies between devices.
inline constexpr int between_devices = -1;

/// Index into Design::streams.
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
  /// Where its words begin among those that a host may write; nullopt if they stay.
  std::optional<std::int64_t> base = std::nullopt;
};

/// A module between its streams.
struct Instance {
  std::string name;   ///< unique, a legal identifier
  std::string layer;  ///< graph node it belongs to; empty for plumbing between layers
  Module module;
  std::vector<StreamId> inputs, outputs;  ///< in the order of the module's ports
  int device = 0;                         ///< or between_devices
};

/// Cycles when nothing stalls: inputs always offered, outputs always taken. Found by running the
/// handshake models; counted as in simulation, from the first input beat of a frame in an idle
/// design.
struct Timing {
  std::int64_t first = 0;     ///< first input beat taken to first output beat given
  std::int64_t last = 0;      ///< first input beat taken to last output beat given
  std::int64_t interval = 0;  ///< between frames in steady state
  std::int64_t frames = 0;    ///< whose last beats show the interval; 0 when not known
};

/// Hardware before it is text. Every stream has one producer and one consumer, the border included.
struct Design {
  std::string name = "top";
  std::shared_ptr<const integer::Program> program;  ///< null for single modules under test
  Folding folding;
  Distribution distribution;
  std::vector<Stream> streams;
  std::vector<Instance> instances;
  std::vector<StreamId> inputs, outputs;
  std::vector<Memory> memories;
  bool reloadable = false;  ///< a host may write weights, biases, scales and shifts
  Timing timing;
  /// How much shorter the interval of other folds under the same limits can be at most, as a part
  /// of one (or the area, where the interval was given); nullopt if no others are better.
  std::optional<double> gap = std::nullopt;

  const Stream& stream(StreamId id) const { return streams[static_cast<std::size_t>(id)]; }
  const Memory* find_memory(const std::string& file) const;
  /// Places of the FIFOs in `instances`, ascending: the order of everything that lists FIFOs.
  std::vector<std::size_t> fifos() const;
  /// The devices that have instances, ascending.
  std::vector<int> devices() const;
};

}  // namespace mase::design
