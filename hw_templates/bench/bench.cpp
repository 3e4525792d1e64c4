// SPDX-License-Identifier: Apache-2.0
// Bench for every emitted design: streams vectors through bench_top under random stalls, compares
// every output beat, and checks the rules of the handshake.
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>

#include "dut.hpp"
#include "options.hpp"
#include "report.hpp"
#include "stalls.hpp"
#include "streams.hpp"

namespace {

// One side of the design: where the next beat of a stream comes from or is compared with.
struct Port {
  Stream stream;
  std::uint64_t bit = 0;
  std::size_t words = 0;
  std::vector<std::uint32_t> beats;
  bool compared = true;               // outputs: expected beats are known
  std::uint64_t done = 0, total = 0;  // beats
  std::uint64_t frame = 0, left = 0;  // current frame, beats until it ends
  std::vector<std::uint32_t> held, received;

  void advance() {
    ++done;
    if (--left == 0) {
      left = stream.beats_per_frame;
      ++frame;
    }
  }
};

class Bench {
 public:
  explicit Bench(const Options& options);
  Report run();

 private:
  static constexpr std::uint64_t kPatientBeats = 16;  // first beats whose ready waits for valid
  static constexpr int kIdleCycles = 4;

  void load();
  void add_port(const Stream& stream, std::vector<Port>& ports);
  void evaluate(bool clock);
  void reset();
  void offer();
  std::uint64_t choose_ready();
  void probe();
  void expect_unmoved(const char* cause);
  void check_held();
  void take(Port& port);
  void give(Port& port);
  void compare(Port& port, const std::uint32_t* data);
  void cycle();
  bool finished() const;
  void watch(bool moved);
  void watch_fifos();
  void save();
  const std::uint32_t* data_of(const Port& port) const {
    return dut_->out_data + port.stream.first_word;
  }

  Options options_;
  std::unique_ptr<Dut> dut_;
  std::vector<Port> inputs_, outputs_;
  StallSource stall_in_, stall_out_;
  std::uint64_t frames_ = 0;
  std::uint64_t all_inputs_ = 0, all_outputs_ = 0;  // one bit a stream
  std::uint64_t valid_ = 0, ready_ = 0;             // registered outputs of this cycle
  std::uint64_t held_ = 0;     // outputs that were valid and not taken in the last cycle
  std::uint64_t patient_ = 0;  // outputs whose ready still waits for valid
  std::uint64_t open_inputs_ = 0, open_outputs_ = 0;  // streams with beats left
  std::uint64_t cycle_ = 0, quiet_ = 0;
  Report report_;
  std::vector<std::uint64_t> handshakes_;
};

Bench::Bench(const Options& options)
    : options_(options),
      dut_(make_dut(options.trace)),
      stall_in_(options.stall_in, options.spell, 3 * options.spell, 2 * options.seed + 1),
      stall_out_(options.stall_out, options.spell, options.spell, 2 * options.seed + 2) {
  load();
}

void Bench::add_port(const Stream& stream, std::vector<Port>& ports) {
  Port port;
  port.stream = stream;
  port.bit = std::uint64_t{1} << ports.size();
  port.words = stream.words();
  port.left = stream.beats_per_frame;
  port.held.resize(port.words);
  port.compared = read_beats(options_.vectors, stream, port.beats);
  if (!port.compared && stream.is_input)
    throw std::runtime_error("no vectors for input " + stream.name + " in " + options_.vectors);
  ports.push_back(std::move(port));
}

void Bench::load() {
  for (const Stream& stream : read_streams(options_.streams))
    add_port(stream, stream.is_input ? inputs_ : outputs_);
  frames_ = options_.frames == 0 ? std::numeric_limits<std::uint64_t>::max() : options_.frames;
  for (const auto* ports : {&inputs_, &outputs_})
    for (const Port& port : *ports)
      if (port.compared)
        frames_ = std::min<std::uint64_t>(
            frames_, port.beats.size() / port.words / port.stream.beats_per_frame);
  for (auto* ports : {&inputs_, &outputs_})
    for (Port& port : *ports) port.total = frames_ * port.stream.beats_per_frame;
  for (const Port& port : inputs_) all_inputs_ |= port.bit;
  for (const Port& port : outputs_) all_outputs_ |= port.bit;
  open_inputs_ = frames_ == 0 ? 0 : all_inputs_;
  open_outputs_ = frames_ == 0 ? 0 : all_outputs_;
  patient_ = all_outputs_;
  report_.first_in.assign(frames_, std::numeric_limits<std::uint64_t>::max());
  report_.last_out.assign(frames_, 0);
  report_.fifo_peaks.resize(dut_->fifo_levels.size());
}

void Bench::evaluate(bool clock) {
  dut_->settle(clock);
  dut_->dump();
}

// After the reset nothing may come out while nothing went in.
void Bench::reset() {
  dut_->in_valid = 0;
  dut_->out_ready = 0;
  dut_->reset = true;
  for (int i = 0; i < kIdleCycles; ++i) {
    evaluate(false);
    evaluate(true);
  }
  dut_->reset = false;
  for (int i = 0; i < kIdleCycles; ++i) {
    evaluate(false);
    if (dut_->out_valid != 0 && report_.protocol_faults++ == 0)
      report_.note("an output is valid after the reset, before any input");
    evaluate(true);
  }
}

// Offers beats on idle inputs. Data of an input that pauses is wrong on purpose.
void Bench::offer() {
  std::uint64_t idle = open_inputs_ & ~dut_->in_valid;
  if (idle == 0) return;
  for (Port& port : inputs_) {
    if ((idle & port.bit) == 0) continue;
    std::uint32_t* to = dut_->in_data + port.stream.first_word;
    const std::uint32_t* from = port.beats.data() + port.done * port.words;
    if (stall_in_.pause()) {
      const std::size_t used = port.stream.width % 32;
      for (std::size_t i = 0; i < port.words; ++i) to[i] = ~from[i];
      if (used != 0) to[port.words - 1] &= (std::uint32_t{1} << used) - 1;
      continue;
    }
    std::copy_n(from, port.words, to);
    dut_->in_valid |= port.bit;
  }
}

// A design whose valid waits for ready never gets past the patient beats.
std::uint64_t Bench::choose_ready() {
  std::uint64_t ready = all_outputs_;
  if (stall_out_.active())
    for (const Port& port : outputs_)
      if (stall_out_.pause()) ready &= ~port.bit;
  return ready & ~(patient_ & ~valid_);
}

void Bench::expect_unmoved(const char* cause) {
  dut_->settle(false);
  bool same = dut_->out_valid == valid_ && dut_->in_ready == ready_;
  for (const Port& port : outputs_)
    if ((valid_ & port.bit) != 0 &&
        std::memcmp(data_of(port), port.held.data(), 4 * port.words) != 0)
      same = false;
  if (same) return;
  if (report_.combinational_paths++ == 0)
    report_.note("cycle " + std::to_string(cycle_) + ": an output moves with " + cause +
                 " within the cycle: a combinational path");
}

// Flips what the environment drives within one cycle; nothing that the design drives may move.
void Bench::probe() {
  for (Port& port : outputs_) std::copy_n(data_of(port), port.words, port.held.data());
  const std::uint64_t out_ready = dut_->out_ready, in_valid = dut_->in_valid;
  expect_unmoved("the inputs");
  dut_->out_ready = ~out_ready & all_outputs_;
  expect_unmoved("out_ready");
  dut_->out_ready = out_ready;
  dut_->in_valid = ~in_valid & all_inputs_;
  expect_unmoved("in_valid");
  dut_->in_valid = in_valid;
}

void Bench::check_held() {
  for (const Port& port : outputs_) {
    if ((held_ & port.bit) == 0) continue;
    const bool withdrawn = (valid_ & port.bit) == 0;
    const bool changed = std::memcmp(data_of(port), port.held.data(), 4 * port.words) != 0;
    if (!withdrawn && !changed) continue;
    if (report_.protocol_faults++ == 0)
      report_.note("cycle " + std::to_string(cycle_) + ", stream " + port.stream.name + ": " +
                   (withdrawn ? "valid fell" : "data changed") + " while stalled");
  }
}

void Bench::take(Port& port) {
  if (port.left == port.stream.beats_per_frame)
    report_.first_in[port.frame] = std::min(report_.first_in[port.frame], cycle_);
  port.advance();
  dut_->in_valid &= ~port.bit;
  if (port.done == port.total) open_inputs_ &= ~port.bit;
}

void Bench::compare(Port& port, const std::uint32_t* data) {
  const std::uint32_t* expected = port.beats.data() + port.done * port.words;
  if (std::memcmp(data, expected, 4 * port.words) == 0) return;
  ++report_.mismatches;
  const Stream& stream = port.stream;
  for (std::size_t i = 0; i < stream.elements(); ++i) {
    const std::string right = element_text(stream, expected, i),
                      got = element_text(stream, data, i);
    if (right != got)
      report_.note("frame " + std::to_string(port.frame) + ", stream " + stream.name + ", beat " +
                   std::to_string(port.done % stream.beats_per_frame) + ", element " +
                   std::to_string(i) + ": expected " + right + ", got " + got);
  }
}

void Bench::give(Port& port) {
  const std::uint32_t* data = data_of(port);
  ++report_.beats;
  if ((open_outputs_ & port.bit) == 0) {
    if (report_.mismatches++ < Report::kMessages)
      report_.note("stream " + port.stream.name + ": a beat after the last expected one");
    return;
  }
  if (port.compared) compare(port, data);
  if (!options_.outputs.empty()) port.received.insert(port.received.end(), data, data + port.words);
  if (port.done == 0 && report_.first_out == 0) report_.first_out = cycle_;
  report_.last_out[port.frame] = std::max(report_.last_out[port.frame], cycle_);
  port.advance();
  if (port.done == kPatientBeats) patient_ &= ~port.bit;
  if (port.done == port.total) open_outputs_ &= ~port.bit;
}

void Bench::watch(bool moved) {
  if (moved)
    quiet_ = 0;
  else if (!stall_in_.halting() && !stall_out_.halting())
    ++quiet_;
  if (quiet_ <= options_.watchdog) return;
  report_.deadlock = true;
  std::string waiting;
  for (const auto* ports : {&inputs_, &outputs_})
    for (const Port& port : *ports)
      if (port.done != port.total)
        waiting +=
            (waiting.empty() ? "" : ", ") + port.stream.name + " after " +
            std::to_string(port.done) + " of " + std::to_string(port.total) + " beats" +
            ((patient_ & port.bit) != 0 && !port.stream.is_input ? " (ready waits for valid)" : "");
  report_.note("deadlock in cycle " + std::to_string(cycle_) + ": " + waiting);
}

void Bench::cycle() {
  valid_ = dut_->out_valid;
  ready_ = dut_->in_ready;
  if (held_ != 0) check_held();
  stall_in_.tick();
  stall_out_.tick();
  offer();
  dut_->out_ready = choose_ready();
  if (cycle_ < options_.probe) probe();
  evaluate(false);
  if ((dut_->out_valid != valid_ || dut_->in_ready != ready_) && report_.combinational_paths++ == 0)
    report_.note("cycle " + std::to_string(cycle_) + ": a combinational path between the ports");
  valid_ = dut_->out_valid;
  const std::uint64_t taken = dut_->in_valid & dut_->in_ready, given = valid_ & dut_->out_ready;
  // A beat that nobody waits for is not progress: a design may give them for ever.
  const std::uint64_t moved = taken | (given & open_outputs_);
  if (!options_.handshakes.empty())
    handshakes_.insert(handshakes_.end(),
                       {dut_->in_valid, dut_->in_ready, valid_, dut_->out_ready});
  held_ = valid_ & ~dut_->out_ready;
  for (Port& port : outputs_) {
    if ((given & port.bit) != 0) give(port);
    if ((held_ & port.bit) != 0) std::copy_n(data_of(port), port.words, port.held.data());
  }
  evaluate(true);
  if (taken != 0)
    for (Port& port : inputs_)
      if ((taken & port.bit) != 0) take(port);
  watch(moved != 0);
  watch_fifos();
  ++cycle_;
}

void Bench::watch_fifos() {
  for (std::size_t i = 0; i < report_.fifo_peaks.size(); ++i)
    report_.fifo_peaks[i] = std::max(report_.fifo_peaks[i], dut_->fifo_levels[i]);
}

bool Bench::finished() const { return report_.deadlock || (open_inputs_ | open_outputs_) == 0; }

void Bench::save() {
  if (!options_.outputs.empty())
    for (const Port& port : outputs_)
      write_words(options_.outputs + "/" + port.stream.name + ".bin", port.received);
  if (!options_.handshakes.empty()) {
    std::vector<std::uint32_t> words(2 * handshakes_.size());
    std::memcpy(words.data(), handshakes_.data(), 8 * handshakes_.size());
    write_words(options_.handshakes, words);
  }
}

Report Bench::run() {
  reset();
  const auto start = std::chrono::steady_clock::now();
  while (!finished()) cycle();
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report_.cycles = cycle_;
  report_.stalled = stall_in_.active() || stall_out_.active();
  report_.frames = frames_;
  for (const Port& port : outputs_) report_.frames = std::min(report_.frames, port.frame);
  // Beats of a design that gives too many show up while nothing more goes in.
  const std::uint64_t extra = 100 + latencies(report_).last;
  if (!report_.deadlock) options_.watchdog = std::max(options_.watchdog, 2 * extra);
  for (std::uint64_t i = 0; i < extra && !report_.deadlock; ++i) cycle();
  dut_->finish(options_.coverage);
  save();
  return report_;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse_options(argc, argv);
    const auto bench = std::make_unique<Bench>(options);
    const Report report = bench->run();
    options.json ? print_json(report) : print_text(report);
    return report.status();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench: %s\n", error.what());
    return 2;
  }
}
