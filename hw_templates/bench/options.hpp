// SPDX-License-Identifier: Apache-2.0
// The command line of the bench.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

struct Options {
  std::string streams = "../sim/streams.txt";
  std::string vectors = "../sim/vectors";  // folder with <stream>.bin or <stream>.hex
  std::string outputs;                     // folder for what came out
  std::string trace;                       // FST file; needs a build with --trace-fst
  std::string coverage;                    // data file; needs a build with --coverage
  std::string handshakes;                  // per cycle in_valid, in_ready, out_valid, out_ready
  double stall_in = 0, stall_out = 0;      // probability per cycle that a side pauses
  std::uint64_t spell = 0;                 // 0, or the longest spell of stalls of every kind
  std::uint64_t seed = 0;
  std::uint64_t watchdog = 100000;  // cycles without a beat until a deadlock is declared
  std::uint64_t frames = 0;         // 0: as many as the vectors hold
  std::uint64_t probe = 2000;       // cycles in which combinational paths are looked for
  bool json = false;
};

constexpr const char* kUsage =
    "usage: bench [options], to be started where the memory images are\n"
    "  --streams FILE        streams.txt of the design (default ../sim/streams.txt)\n"
    "  --vectors FOLDER      <stream>.bin or <stream>.hex, a beat a line (default ../sim/vectors)\n"
    "  --stall-in P          probability per cycle that an input pauses, below 1\n"
    "  --stall-out P         the same for outputs\n"
    "  --stall-spell N       both sides stall in every way instead: spells of up to N cycles\n"
    "                        without pauses, with some, with hardly a beat, and with none\n"
    "  --seed N              of the stalls\n"
    "  --frames N            at most so many frames\n"
    "  --watchdog N          cycles without a beat that are a deadlock (but for long pauses)\n"
    "  --probe N             cycles in which combinational paths are looked for\n"
    "  --outputs FOLDER      write what came out\n"
    "  --handshakes FILE     write valid and ready of every cycle: four 64-bit words\n"
    "  --trace FILE          FST waves, in a build with verilator --trace-fst\n"
    "  --coverage FILE       coverage data, in a build with verilator --coverage\n"
    "  --json                one line of JSON\n"
    "exit status: 0 every beat as expected, 1 not, 2 wrong use, 3 deadlock\n";

inline double probability(const std::string& name, const std::string& text) {
  std::size_t used = 0;
  const double value = std::stod(text, &used);
  if (used != text.size() || !(value >= 0 && value < 1))
    throw std::runtime_error(name + " takes a probability from 0 to below 1, not " + text);
  return value;
}

inline std::uint64_t count(const std::string& name, const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    throw std::runtime_error(name + " takes a number, not '" + text + "'");
  return std::stoull(text);
}

inline bool set_text(Options& options, const std::string& name, const std::string& value) {
  if (name == "--streams")
    options.streams = value;
  else if (name == "--vectors")
    options.vectors = value;
  else if (name == "--outputs")
    options.outputs = value;
  else if (name == "--trace")
    options.trace = value;
  else if (name == "--coverage")
    options.coverage = value;
  else if (name == "--handshakes")
    options.handshakes = value;
  else
    return false;
  return true;
}

inline bool set_number(Options& options, const std::string& name, const std::string& value) {
  if (name == "--stall-in")
    options.stall_in = probability(name, value);
  else if (name == "--stall-out")
    options.stall_out = probability(name, value);
  else if (name == "--stall-spell")
    options.spell = count(name, value);
  else if (name == "--seed")
    options.seed = count(name, value);
  else if (name == "--watchdog")
    options.watchdog = count(name, value);
  else if (name == "--frames")
    options.frames = count(name, value);
  else if (name == "--probe")
    options.probe = count(name, value);
  else
    return false;
  return true;
}

inline Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--json") {
      options.json = true;
      continue;
    }
    if (i + 1 == argc)
      throw std::runtime_error(name + " is not an option, or lacks its value\n" + kUsage);
    const std::string value = argv[++i];
    if (!set_text(options, name, value) && !set_number(options, name, value))
      throw std::runtime_error("no option " + name + "\n" + kUsage);
  }
  return options;
}
