// SPDX-License-Identifier: Apache-2.0
// `mase simulate` runs emitted hardware in Verilator and compares every beat with the integers.
#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "driver/frames.hpp"
#include "driver/hardware.hpp"
#include "driver/mutants.hpp"
#include "driver/session.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/reload_image.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/emit/simulate_reload.hpp"

namespace mase::driver {
namespace {

using emit::Simulation;

/// Enough frames to measure the interval of nearly every design, yet quick to run.
constexpr std::int64_t least_timing_frames = 8;

/// As many frames as the prediction needed. The bench measures no interval for the last one.
std::int64_t timing_frames(const design::Timing& predicted) {
  return std::max(least_timing_frames, predicted.frames + 1);
}

Simulation run(const Hardware& hardware, const emit::Vectors& vectors,
               const emit::SimulateOptions& options) {
  return emit::simulate(hardware.folder, hardware.design, vectors, options);
}

/// Shows cycles without stalls: the predicted ones, and those measured on the first frames.
bool show_timing(const Hardware& hardware, const Simulation& measured, Output& output) {
  const design::Timing& predicted = hardware.design.timing;
  passes::ReportTable table{"Cycles without stalls", {"", "Predicted", "Measured"}, {}, ""};
  bool same = true;
  const auto row = [&](const char* name, const char* key, std::int64_t wanted, std::int64_t found) {
    table.rows.push_back({name, std::to_string(wanted), std::to_string(found)});
    output.document()["timing"][key]["predicted"] = wanted;
    output.document()["timing"][key]["measured"] = found;
    same = same && wanted == found;
  };
  row("first output", "first", predicted.first, measured.latency_first);
  row("last output", "last", predicted.last, measured.latency_last);
  row("interval", "interval", predicted.interval, measured.interval);
  output.table(table);
  if (!same) log::error("the measured cycles differ from the predicted ones");
  return same;
}

std::vector<std::pair<std::string, std::string>> facts(const Simulation& s) {
  const double rate = s.seconds > 0 ? static_cast<double>(s.frames) / s.seconds : 0;
  return {{"vectors", std::to_string(s.frames)},
          {"beats compared", std::to_string(s.beats)},
          {"mismatches", std::to_string(s.mismatches)},
          {"protocol faults", std::to_string(s.protocol_faults)},
          {"combinational paths", std::to_string(s.combinational_paths)},
          {"deadlock", s.deadlock ? "yes" : "no"},
          {"cycles", std::to_string(s.cycles)},
          {"latency, mean", fixed_text(s.latency_mean, 1)},
          {"latency, worst", std::to_string(s.latency_worst)},
          {"simulated frames per second", fixed_text(rate, rate < 10 ? 2 : 0)},
          {"simulation, seconds", fixed_text(s.seconds, 2)}};
}

Tree histogram_tree(const Simulation::Histogram& histogram) {
  Tree tree = Tree::dict();
  tree["least"] = histogram.least;
  tree["width"] = histogram.width;
  tree["frames"] = Tree::list_of(histogram.frames);
  return tree;
}

Tree fifos_tree(const std::vector<Simulation::FifoPeak>& fifos) {
  Tree list = Tree::list();
  for (const Simulation::FifoPeak& fifo : fifos) {
    Tree entry = Tree::dict();
    entry["name"] = fifo.name;
    entry["depth"] = fifo.depth;
    entry["peak"] = fifo.peak;
    list.push_back(std::move(entry));
  }
  return list;
}

Tree simulation_tree(const Simulation& s) {
  Tree tree = Tree::dict();
  tree["frames"] = s.frames;
  tree["beats"] = s.beats;
  tree["mismatches"] = s.mismatches;
  tree["protocol_faults"] = s.protocol_faults;
  tree["combinational_paths"] = s.combinational_paths;
  tree["deadlock"] = s.deadlock;
  tree["cycles"] = s.cycles;
  tree["latency_first"] = s.latency_first;
  tree["latency_mean"] = s.latency_mean;
  tree["latency_worst"] = s.latency_worst;
  tree["latency_histogram"] = histogram_tree(s.latencies);
  tree["fifos"] = fifos_tree(s.fifos);
  tree["seconds"] = s.seconds;
  tree["first_mismatches"] = Tree::list_of(s.first_mismatches);
  if (!s.trace_file.empty()) tree["trace_file"] = s.trace_file;
  if (!s.coverage.is_null()) tree["coverage"] = s.coverage;
  return tree;
}

/// "1112 of 1241 (90 %)" for one kind of coverage points.
std::string coverage_cell(const Tree& counts, const char* kind) {
  const Tree* found = counts.find(kind);
  if (found == nullptr) return "-";
  const std::int64_t hit = found->at("hit").as_int(), points = found->at("points").as_int();
  const double share = points > 0 ? static_cast<double>(hit) / static_cast<double>(points) : 1;
  return std::to_string(hit) + " of " + std::to_string(points) + " (" + fixed_text(100 * share, 0) +
         " %)";
}

/// What stands for the energy of a frame: changes of all bits of all signals.
std::string toggles_text(const Tree& coverage, std::int64_t frames) {
  const auto times = static_cast<double>(coverage.at("toggle").at("times").as_int());
  return fixed_text(times / static_cast<double>(frames), 0) + " toggles of signals per frame";
}

void show_coverage(const Tree& coverage, std::int64_t frames, Output& output) {
  passes::ReportTable table{"Coverage", {"Module", "Lines", "Branches", "Toggles"}, {}, ""};
  const auto row = [&](const std::string& name, const Tree& counts) {
    table.rows.push_back({name, coverage_cell(counts, "line"), coverage_cell(counts, "branch"),
                          coverage_cell(counts, "toggle")});
  };
  for (const auto& [module, counts] : coverage.at("modules").as_dict()) row(module, counts);
  row("total", coverage);
  output.table(table);
  if (coverage.find("toggle") && frames > 0) output.text(toggles_text(coverage, frames));
}

void show_simulation(const Simulation& simulation, const std::string& title, Output& output) {
  passes::ReportTable table{title, {"", ""}, {}, ""};
  for (const auto& [name, value] : facts(simulation)) table.rows.push_back({name, value});
  output.table(table);
  for (const std::string& line : simulation.first_mismatches) output.text("  " + line);
  if (!simulation.trace_file.empty()) output.text("waves: " + simulation.trace_file);
  if (!simulation.coverage.is_null()) show_coverage(simulation.coverage, simulation.frames, output);
}

emit::SimulateOptions options_of(const SimulateRequest& request, const Settings& settings,
                                 const design::Design& design) {
  emit::SimulateOptions options;
  if (request.stall)
    options.stall_in = options.stall_out = *request.stall;
  else
    options.spell = emit::stall_spell(design);
  options.seed = static_cast<std::uint64_t>(settings.train.seed);
  options.trace = request.trace;
  options.coverage = request.coverage;
  options.optimise = request.optimise;
  return options;
}

std::string stalls_text(const emit::SimulateOptions& options) {
  return options.spell > 0
             ? "stalls in spells of up to " + std::to_string(options.spell) + " cycles"
             : "stalls with probability " + double_text(options.stall_in);
}

/// The first `count` frames, repeated if there are fewer.
emit::Vectors first_frames(const Hardware& hardware, const emit::Vectors& all, std::int64_t count) {
  const auto taken = [&](const std::vector<integer::Codes>& codes,
                         const std::vector<design::StreamId>& streams) {
    std::vector<integer::Codes> out;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const auto size = count * hardware.design.stream(streams[i]).elements;
      integer::Codes& some = out.emplace_back();
      while (std::ssize(some) < size)
        some.insert(some.end(), codes[i].begin(),
                    codes[i].begin() + std::min(std::ssize(codes[i]), size - std::ssize(some)));
    }
    return out;
  };
  const design::Design& design = hardware.design;
  return {count, taken(all.inputs, design.inputs), taken(all.outputs, design.outputs)};
}

emit::Fault drawn_fault(const design::Memory& memory, Random& random) {
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::int64_t>(random.below(bound));
  };
  const std::int64_t word = below(memory.words.size());
  return {memory.file, word, below(static_cast<std::uint64_t>(memory.word_bits))};
}

/// Reads "FILE:WORD:BIT"; parts that are left out are drawn at random.
emit::Fault parse_fault(const std::string& text, const design::Design& design, Random random) {
  const std::vector<std::string> parts = split(text, ':');
  const design::Memory* memory = design.find_memory(parts.front());
  std::vector<std::string> names;
  for (const design::Memory& known : design.memories) names.push_back(known.file);
  if (memory == nullptr)
    config_error("no memory '" + parts.front() + "' in the design; memories: " + join(names, ", "));
  emit::Fault fault = drawn_fault(*memory, random);
  const auto part = [&](std::size_t i, std::int64_t limit, std::int64_t& value) {
    if (parts.size() <= i) return;
    const auto number = parse_int(parts[i]);
    if (!number || *number < 0 || *number >= limit)
      config_error("fault '" + text + "': " + parts[i] + " must be a number below " +
                   std::to_string(limit));
    value = *number;
  };
  part(1, static_cast<std::int64_t>(memory->words.size()), fault.word);
  part(2, memory->word_bits, fault.bit);
  return fault;
}

/// How many bits to try. A bit that no frame depends on (a pixel that is always 0, a neuron that
/// never fires) proves nothing.
constexpr int fault_tries = 32;

struct Injection {
  emit::Fault fault;
  int tries = 0;
  std::int64_t mismatches = 0;
};

/// Flips random bits of a memory, one at a time, until a run fails.
Injection inject(const Hardware& hardware, const design::Memory& memory,
                 const emit::Vectors& vectors, emit::SimulateOptions options, Random& random) {
  Injection injection;
  while (injection.mismatches == 0 && injection.tries < fault_tries) {
    injection.fault = drawn_fault(memory, random);
    options.fault = injection.fault;
    injection.mismatches = run(hardware, vectors, options).mismatches;
    ++injection.tries;
  }
  return injection;
}

/// Flips a bit in every memory in turn; the run must fail each time.
int inject_everywhere(const Hardware& hardware, const emit::Vectors& vectors,
                      const emit::SimulateOptions& options, Output& output) {
  passes::ReportTable table{
      "Injected faults", {"Memory", "Word", "Bit", "Tries", "Mismatches", "Caught"}, {}, ""};
  bool all_caught = true;
  Random random(options.seed);
  output.document()["faults"] = Tree::list();
  for (const design::Memory& memory : hardware.design.memories) {
    const Injection found = inject(hardware, memory, vectors, options, random);
    const bool caught = found.mismatches > 0;
    all_caught = all_caught && caught;
    table.rows.push_back({memory.file, std::to_string(found.fault.word),
                          std::to_string(found.fault.bit), std::to_string(found.tries),
                          std::to_string(found.mismatches), caught ? "yes" : "NO"});
    Tree entry = Tree::dict();
    entry["memory"] = memory.file;
    entry["word"] = found.fault.word;
    entry["bit"] = found.fault.bit;
    entry["tries"] = found.tries;
    entry["mismatches"] = found.mismatches;
    output.document()["faults"].push_back(std::move(entry));
  }
  output.table(table);
  if (hardware.design.memories.empty()) output.text("the design has no memory to flip a bit in");
  output.finish();
  return all_caught ? 0 : static_cast<int>(Fault::goal);
}

std::string drawn_memory(const design::Design& design, Random random) {
  if (design.memories.empty())
    config_error("the design has no memory to inject a fault into: its weights are constants");
  return design.memories[random.below(design.memories.size())].file;
}

/// Loads the weights of a checkpoint into the hardware of another one and simulates twice: without
/// stalls, where cycles are compared, and with stalls.
int simulate_reload(const SimulateRequest& request, ir::Graph graph, Session& session) {
  Output& output = session.output;
  const Settings& settings = session.settings();
  const auto seed = static_cast<std::uint64_t>(settings.train.seed);
  const Hardware hardware =
      open_reload_hardware(hardware_folder(settings, request.hardware), std::move(graph));
  const emit::Vectors vectors =
      make_frames(*hardware.design.program, session.dataset ? &*session.dataset : nullptr, request,
                  settings.data, seed);
  constexpr double usual_stall = 0.3;
  bool passed = true;
  output.document()["runs"] = Tree::list();
  for (const double stall : {0.0, request.stall.value_or(usual_stall)}) {
    const emit::ReloadSimulation found =
        emit::simulate_reload(hardware.folder, hardware.design, vectors, stall, seed);
    passed = passed && found.passed;
    output.text("stalls with probability " + double_text(stall) + ":\n" + found.text);
    Tree run = Tree::dict();
    run["stall"] = stall;
    run["passed"] = found.passed;
    run["text"] = found.text;
    output.document()["runs"].push_back(std::move(run));
  }
  output.finish();
  return passed ? 0 : static_cast<int>(Fault::goal);
}

}  // namespace

int simulate(const SimulateRequest& request) {
  if (request.fault.has_value() + request.mutate.has_value() + request.mutate_rtl.has_value() +
          request.reload >
      1)
    config_error("give only one of --inject-fault, --mutate, --mutate-rtl and --reload");
  Session session = open_session(request, Project::of_model);
  ir::Graph graph = load_quantized(session.configuration);
  check_external(graph, session.configuration, request);
  if (request.reload) return simulate_reload(request, std::move(graph), session);
  Output& output = session.output;
  const Settings& settings = session.settings();
  const Hardware hardware =
      open_hardware(hardware_folder(settings, request.hardware), std::move(graph));
  const emit::Vectors vectors =
      make_frames(*hardware.design.program, session.dataset ? &*session.dataset : nullptr, request,
                  settings.data, static_cast<std::uint64_t>(settings.train.seed));
  emit::SimulateOptions options = options_of(request, settings, hardware.design);
  if (request.mutate) return run_mutants(hardware, vectors, options, *request.mutate, output);
  if (request.mutate_rtl)
    return run_rtl_mutants(hardware, vectors, options, *request.mutate_rtl, output);
  if (request.fault == "all") return inject_everywhere(hardware, vectors, options, output);
  if (request.fault)
    options.fault =
        parse_fault(request.fault->empty() ? drawn_memory(hardware.design, Random(options.seed))
                                           : *request.fault,
                    hardware.design, Random(options.seed, 1));

  bool good = true;
  double build_seconds = 0;
  if (!options.fault) {
    const auto few = first_frames(hardware, vectors, timing_frames(hardware.design.timing));
    emit::SimulateOptions unstalled;
    unstalled.optimise = options.optimise;
    const Simulation timing = run(hardware, few, unstalled);
    build_seconds = timing.build_seconds;
    output.document()["timing_frames"] = few.frames;
    good = show_timing(hardware, timing, output);
  }
  const Simulation simulation = run(hardware, vectors, options);
  show_simulation(simulation, "Simulation, " + stalls_text(options), output);
  output.document()["simulation"] = simulation_tree(simulation);
  const double frames_per_second =
      hardware.options.clock_mhz * 1e6 / static_cast<double>(hardware.design.timing.interval);
  output.document()["build_seconds"] = build_seconds + simulation.build_seconds;
  output.document()["clock_mhz"] = hardware.options.clock_mhz;
  output.document()["frames_per_second"] = frames_per_second;
  output.text(std::to_string(simulation.frames) + " vectors, " +
              std::to_string(simulation.mismatches) + " mismatches; " +
              fixed_text(frames_per_second, 0) + " frames per second at the target clock of " +
              double_text(hardware.options.clock_mhz) + " MHz");
  output.record(project_folder(settings), "simulate");
  output.finish();
  return good && simulation.passed() ? 0 : static_cast<int>(Fault::goal);
}

}  // namespace mase::driver
