// SPDX-License-Identifier: Apache-2.0
// Running up to the end of one period after another, until two of them end in the same state.
#include "hardware/design/building/part_runner.hpp"

#include <algorithm>

namespace mase::design {
namespace {

constexpr int most_periods = 12;  ///< in which a part has to repeat

}  // namespace

PartRunner::PartRunner(const NetworkPart& part, const std::vector<Trace>& inputs, Network network)
    : part_(part), inputs_(inputs), network_(std::move(network)) {
  const auto& streams = part.design.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    network_.follow(streams[part.ports + i], inputs[i]);
  for (const Stream& stream : part.design.streams) patience_ = std::max(patience_, stream.beats());
  patience_ = 2 * (patience_ + network_.input_interval) + 4096;
  run_.outputs.resize(part.design.outputs.size());
  run_.ports.resize(part.ports);
  run_.most.resize(part.watches.size());
}

PartRunner::End PartRunner::run() {
  if (part_.design.inputs.empty()) return End::wanders;
  std::int64_t start = 0, period = part_.ports > 0 ? network_.input_interval : 0;
  for (const Trace& input : inputs_) {
    if (period != 0 && input.period() != period) return End::wanders;
    period = input.period();
    start = std::max(start, input.periodic_from());
  }
  if (part_.ports == 0) run_to(first_beat());
  for (int n = 0; n < most_periods; ++n) {
    period > 0 ? run_to(start + n * period) : run_frame();
    if (network_.refused()) return End::refuses;
    if (quiet_ > patience_ && period == 0) return End::wanders;
    if (repeats()) return End::repeats;
  }
  return End::wanders;
}

std::int64_t PartRunner::first_beat() const {
  std::int64_t first = forever;
  for (const Trace& input : inputs_)
    if (!input.empty()) first = std::min(first, input.first());
  return first == forever ? 0 : first;
}

void PartRunner::run_to(std::int64_t cycle) {
  while (network_.cycle() < cycle && !network_.refused()) step(cycle);
}

/// To the end of a frame of the first port, whose beats are always offered.
void PartRunner::run_frame() {
  const StreamId port = part_.design.inputs[0];
  const std::int64_t frame = part_.design.stream(port).beats();
  const std::int64_t end = network_.moved(port) + frame;
  while (network_.moved(port) < end && quiet_ <= patience_) step(network_.cycle() + 1 + patience_);
}

void PartRunner::step(std::int64_t until) {
  const std::int64_t cycle = network_.cycle();
  if (network_.step() > 0) {
    quiet_ = 0;
    note(cycle);
    return;
  }
  if (run_.settled == forever && network_.rests()) run_.settled = cycle + 1;
  const std::int64_t cycles = std::min(network_.pause(), until - network_.cycle());
  network_.pass(cycles);
  quiet_ += 1 + cycles;
}

void PartRunner::note(std::int64_t cycle) {
  const Design& design = part_.design;
  for (std::size_t o = 0; o < run_.outputs.size(); ++o)
    if (network_.moves(design.outputs[o])) run_.outputs[o].add(cycle);
  for (std::size_t p = 0; p < run_.ports.size(); ++p)
    if (network_.moves(design.inputs[p])) run_.ports[p].add(cycle);
  for (std::size_t w = 0; w < run_.most.size(); ++w) {
    auto& most = run_.most[w];
    if (const std::int64_t now = network_.most_between(w);
        now > (most.empty() ? 0 : most.back().beats))
      most.push_back({cycle, now});
  }
}

bool PartRunner::repeats() {
  std::vector<std::size_t> marks;
  for (auto* traces : {&run_.outputs, &run_.ports})
    for (Trace& trace : *traces) marks.push_back(trace.mark());
  if (network_.is_in(state_)) {
    std::size_t next = 0;
    for (auto* traces : {&run_.outputs, &run_.ports})
      for (Trace& trace : *traces) trace.loop(marks_[next++], network_.cycle() - since_);
    return true;
  }
  state_ = network_.state();
  marks_ = marks;
  since_ = network_.cycle();
  return false;
}

}  // namespace mase::design
