// SPDX-License-Identifier: Apache-2.0
// The running of an emitted folder's bench with Verilator, and what it saw.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "hardware/design/design.hpp"

namespace mase::emit {

/// Frames for the bench: codes per stream in stream order, frames one after another.
struct Vectors {
  std::int64_t frames = 0;
  std::vector<integer::Codes> inputs;   ///< one per design input
  std::vector<integer::Codes> outputs;  ///< expected, one per design output; none: not compared
};

/// A weight bit to flip in the simulation's copy of a memory image.
struct Fault {
  std::string memory;  ///< file name
  std::int64_t word = 0, bit = 0;
};

/// How the bench runs.
struct SimulateOptions {
  double stall_in = 0, stall_out = 0;  ///< probability per cycle that a side pauses
  /// Stalls of every kind instead: the longest spell of no pauses, some, or nothing but pauses.
  std::int64_t spell = 0;
  std::uint64_t seed = 0;
  /// Cycles without a beat until a deadlock is declared; 0: from the design.
  std::int64_t watchdog = 0;
  bool trace = false, coverage = false;
  std::optional<Fault> fault;
  bool keep_outputs = false;     ///< return what came out
  bool keep_handshakes = false;  ///< return valid and ready of every cycle
  int optimise = 2;              ///< g++ -O level
};

/// The spell in which a paused output fills a design to its last register: a frame's latency.
std::int64_t stall_spell(const design::Design& design);
/// Cycles in which even a slow design moves a beat under these stalls.
std::int64_t watchdog_cycles(const design::Design& design, const SimulateOptions& options);

/// Bit i belongs to the design's i-th input or output. A beat moves where valid and ready are set.
struct HandshakeSignals {
  std::uint64_t in_valid = 0, in_ready = 0, out_valid = 0, out_ready = 0;
};

/// What the bench saw; latencies in cycles.
struct Simulation {
  std::int64_t frames = 0, beats = 0, mismatches = 0, protocol_faults = 0, combinational_paths = 0;
  bool deadlock = false;
  std::int64_t cycles = 0;
  std::int64_t latency_first = 0;  ///< first in to first out, first frame
  double latency_mean = 0;         ///< first in to last out, over frames
  std::int64_t latency_worst = 0;
  /// Frames by latency: `frames[i]` from least + i * width cycles on; at most 16 bins.
  struct Histogram {
    std::int64_t least = 0, width = 1;
    std::vector<std::int64_t> frames;
  } latencies;
  std::int64_t latency_last = 0;  ///< first in to last out, first frame
  std::int64_t interval = 0;      ///< steady state, between last beats of frames
  double seconds = 0;             ///< of simulation, without build
  double build_seconds = 0;
  bool built = false;                         ///< false: an earlier build was up to date
  std::vector<std::string> first_mismatches;  ///< "frame 3, stream logits, beat 2, element 1: ..."
  /// A FIFO of the design and the most beats that its memory of `depth` held.
  struct FifoPeak {
    std::string name;
    std::int64_t depth = 0, peak = 0;
  };
  std::vector<FifoPeak> fifos;
  std::vector<integer::Codes> outputs;
  std::vector<HandshakeSignals> handshakes;  ///< from the first cycle in which inputs are offered
  std::string trace_file;
  Tree coverage;
  bool passed() const {
    return mismatches == 0 && protocol_faults == 0 && combinational_paths == 0 && !deadlock;
  }
};

/// Builds the bench of the emitted folder with Verilator (unless an equal build is there) and runs
/// the vectors through it. Error(Fault::file) with the tool's own message when it is missing or
/// fails.
Simulation simulate(const std::string& hardware_folder, const design::Design& design,
                    const Vectors& vectors, const SimulateOptions& options);

}  // namespace mase::emit
