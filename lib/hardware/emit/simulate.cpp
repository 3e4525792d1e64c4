// SPDX-License-Identifier: Apache-2.0
// Running of the bench: vectors into a temporary folder, the program in the folder of the memory
// images, its JSON line back.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/run_folder.hpp"
#include "base/text.hpp"
#include "base/writing_inside.hpp"
#include "hardware/design/build.hpp"
#include "hardware/emit/build.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/emit/text/beats.hpp"
#include "hardware/emit/text/names.hpp"
#include "hardware/emit/tools/coverage.hpp"

namespace mase::emit {
namespace {

namespace fs = std::filesystem;

constexpr double simulation_seconds = 24 * 3600;

void write_vectors(const std::string& folder, const design::Design& design, const Names& names,
                   const std::vector<design::StreamId>& ids,
                   const std::vector<integer::Codes>& codes, std::int64_t frames) {
  MASE_CHECK(codes.size() == ids.size(), "vectors and streams of the design differ in number");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const design::Stream& stream = design.stream(ids[i]);
    MASE_CHECK(static_cast<std::int64_t>(codes[i].size()) == frames * stream.elements,
               "vectors of " + stream.name + " have another number of frames");
    write_file(folder + "/" + names.streams[static_cast<std::size_t>(ids[i])] + ".bin",
               pack_beats(stream, codes[i]));
  }
}

void check_options(const SimulateOptions& options) {
  for (const double stall : {options.stall_in, options.stall_out})
    if (!(stall >= 0 && stall < 1))
      config_error("a stall probability is from 0 to below 1, not " + double_text(stall));
  if (options.spell < 0) config_error("a spell of stalls has 0 or more cycles");
  if (options.optimise < 0 || options.optimise > 3)
    config_error("optimise is a level of g++ from 0 to 3");
}

int digit_value(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

std::string flipped(const design::Memory& memory, const Fault& fault) {
  const auto words = static_cast<std::int64_t>(memory.words.size());
  if (fault.word < 0 || fault.word >= words || fault.bit < 0 || fault.bit >= memory.word_bits)
    config_error("memory " + memory.file + " has " + std::to_string(words) + " words of " +
                 std::to_string(memory.word_bits) + " bits; there is no bit " +
                 std::to_string(fault.bit) + " of word " + std::to_string(fault.word));
  std::vector<std::string> lines = memory.words;
  std::string& word = lines[static_cast<std::size_t>(fault.word)];
  const auto digit = static_cast<std::size_t>(fault.bit / 4);
  if (word.size() <= digit) word.insert(0, digit + 1 - word.size(), '0');
  char& place = word[word.size() - 1 - digit];
  place = "0123456789abcdef"[digit_value(place) ^ (1 << (fault.bit % 4))];
  return join(lines, "\n") + "\n";
}

/// The folder where the bench runs: that of the images, or a copy of them with one bit flipped.
std::string images_folder(const std::string& hardware_folder, const design::Design& design,
                          const RunFolder& run, const std::optional<Fault>& fault) {
  std::string rtl = fs::absolute(hardware_folder).string() + "/rtl";
  for (const design::Memory& memory : design.memories)
    if (!file_exists(rtl + "/" + memory.file))
      file_error("there is no memory image '" + rtl + "/" + memory.file +
                 "'; emit the design again");
  if (!fault) return rtl;
  const design::Memory* broken = design.find_memory(fault->memory);
  if (!broken) {
    std::vector<std::string> known;
    for (const design::Memory& memory : design.memories) known.push_back(memory.file);
    config_error("no memory '" + fault->memory +
                 "' to break; the design has: " + join(known, ", "));
  }
  std::string folder = run.make("images");
  for (const design::Memory& memory : design.memories)
    write_file(folder + "/" + memory.file,
               &memory == broken ? flipped(memory, *fault) : read_file(rtl + "/" + memory.file));
  return folder;
}

std::vector<HandshakeSignals> read_handshakes(const std::string& path) {
  const std::string bytes = read_file(path);
  std::vector<HandshakeSignals> out(bytes.size() / sizeof(HandshakeSignals));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(HandshakeSignals));
  return out;
}

Simulation::Histogram read_histogram(const Tree& tree) {
  Simulation::Histogram histogram{tree.at("least").as_int(), tree.at("width").as_int(), {}};
  for (const Tree& count : tree.at("frames").as_list()) histogram.frames.push_back(count.as_int());
  return histogram;
}

std::vector<Simulation::FifoPeak> read_fifos(const Tree& peaks, const design::Design& design) {
  const design::FifoDepths depths = design::fifo_depths(design);
  std::vector<Simulation::FifoPeak> fifos;
  for (const std::size_t i : design.fifos()) {
    const std::string& name = design.instances[i].name;
    fifos.push_back({name, depths.at(name), peaks.as_list().at(fifos.size()).as_int()});
  }
  return fifos;
}

void read_report(const Tree& report, const design::Design& design, Simulation& simulation) {
  simulation.frames = report.at("frames").as_int();
  simulation.beats = report.at("beats").as_int();
  simulation.mismatches = report.at("mismatches").as_int();
  simulation.protocol_faults = report.at("protocol_faults").as_int();
  simulation.combinational_paths = report.at("combinational_paths").as_int();
  simulation.deadlock = report.at("deadlock").as_bool();
  simulation.cycles = report.at("cycles").as_int();
  simulation.latency_first = report.at("latency_first").as_int();
  simulation.latency_mean = report.at("latency_mean").as_double();
  simulation.latency_worst = report.at("latency_worst").as_int();
  simulation.latency_last = report.at("latency_last").as_int();
  simulation.latencies = read_histogram(report.at("latency_histogram"));
  simulation.fifos = read_fifos(report.at("fifo_peaks"), design);
  simulation.interval = std::llround(report.at("interval").as_double());
  simulation.seconds = report.at("seconds").as_double();
  for (const Tree& message : report.at("messages").as_list())
    simulation.first_mismatches.push_back(message.as_string());
}

/// Where one run reads and writes.
struct RunFiles {
  std::string images, vectors, outputs, handshakes, coverage, sim;
};

std::vector<std::string> bench_command(const std::string& program, const RunFiles& files,
                                       const design::Design& design,
                                       const SimulateOptions& options) {
  std::vector<std::string> command = {
      program,         "--json",
      "--streams",     files.sim + "/streams.txt",
      "--vectors",     files.vectors,
      "--stall-in",    double_text(options.stall_in),
      "--stall-out",   double_text(options.stall_out),
      "--stall-spell", std::to_string(options.spell),
      "--seed",        std::to_string(options.seed),
      "--watchdog",    std::to_string(watchdog_cycles(design, options))};
  const auto add = [&](bool wanted, const std::string& name, const std::string& value) {
    if (wanted) command.insert(command.end(), {name, value});
  };
  add(options.keep_outputs, "--outputs", files.outputs);
  add(options.keep_handshakes, "--handshakes", files.handshakes);
  add(options.trace, "--trace", place_to_write(files.sim + "/trace.fst"));
  add(options.coverage, "--coverage", files.coverage);
  return command;
}

void read_files(const RunFiles& files, const design::Design& design, const Names& names,
                const SimulateOptions& options, Simulation& simulation) {
  if (options.trace) simulation.trace_file = files.sim + "/trace.fst";
  if (options.coverage) simulation.coverage = summarise_coverage(read_file(files.coverage));
  if (options.keep_handshakes) simulation.handshakes = read_handshakes(files.handshakes);
  if (!options.keep_outputs) return;
  for (const design::StreamId id : design.outputs)
    simulation.outputs.push_back(unpack_beats(
        design.stream(id),
        read_file(files.outputs + "/" + names.streams[static_cast<std::size_t>(id)] + ".bin")));
}

}  // namespace

std::int64_t stall_spell(const design::Design& design) {
  return std::max<std::int64_t>(design.timing.last, 64);
}

// No module computes longer for one output beat than each input element with each output element
// of a frame. The bench does not count spells in which hardly a beat can move; of the others the
// slowest has every second.
std::int64_t watchdog_cycles(const design::Design& design, const SimulateOptions& options) {
  if (options.watchdog > 0) return options.watchdog;
  std::int64_t inputs = 1, outputs = 1;
  for (const design::StreamId id : design.inputs) inputs += design.stream(id).elements;
  for (const design::StreamId id : design.outputs) outputs += design.stream(id).elements;
  const double cycles = 20000 + 4.0 * static_cast<double>(design.timing.last) +
                        2.0 * static_cast<double>(inputs) * static_cast<double>(outputs);
  const double stall = options.spell > 0 ? 0.5 : std::max(options.stall_in, options.stall_out);
  return static_cast<std::int64_t>(std::min(cycles / (1 - stall), 1e12));
}

Simulation simulate(const std::string& hardware_folder, const design::Design& design,
                    const Vectors& vectors, const SimulateOptions& options) {
  check_options(options);
  const Names names = names_of(design);
  const Build build =
      build_bench(hardware_folder, {options.trace, options.coverage, options.optimise});
  const RunFolder run;
  const RunFiles files{images_folder(hardware_folder, design, run, options.fault),
                       run.make("vectors"),
                       run.make("outputs"),
                       run.file("handshakes"),
                       run.file("coverage"),
                       fs::absolute(hardware_folder).string() + "/sim"};
  const auto write = [&](const std::vector<design::StreamId>& ids,
                         const std::vector<integer::Codes>& codes) {
    write_vectors(files.vectors, design, names, ids, codes, vectors.frames);
  };
  write(design.inputs, vectors.inputs);
  if (!vectors.outputs.empty()) write(design.outputs, vectors.outputs);
  const ProcessResult result = run_process(bench_command(build.program, files, design, options),
                                           {files.images, simulation_seconds, {}});
  if (result.timed_out || (result.status != 0 && result.status != 1 && result.status != 3))
    file_error("the simulation ended with status " + std::to_string(result.status) + ":\n" +
               last_lines(result, 20));
  Simulation simulation;
  simulation.built = build.built;
  simulation.build_seconds = build.seconds;
  read_report(parse_json(result.out, "the bench's report"), design, simulation);
  read_files(files, design, names, options, simulation);
  return simulation;
}

}  // namespace mase::emit
