// SPDX-License-Identifier: Apache-2.0
// Running a network: bytes per stream, and calls only to models whose state can change.
#include "hardware/design/building/network.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/numbers.hpp"

namespace mase::design {
namespace {

/// Eight bytes as one number, byte 0 lowest.
std::uint64_t eight(const std::uint8_t* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, 8);
  return word;
}

std::size_t padded(std::size_t count) { return (count + 7) / 8 * 8; }

/// Calls `visit` with the number of every byte of eight that is set.
template <class Visit>
void for_each_byte(std::uint64_t word, Visit visit) {
  static_assert(std::endian::native == std::endian::little);
  for (; word != 0; word &= word - 1) visit(static_cast<std::size_t>(std::countr_zero(word)) / 8);
}

}  // namespace

std::int64_t Handshake::edge(const Ports& ports) { return run_edge(*this, ports); }

std::unique_ptr<Handshake> table_handshake(const Instance& instance) {
  return instance.module->handshake(Stages::all);
}

std::unique_ptr<Handshake> least_handshake(const Instance& instance) {
  return instance.module->handshake(Stages::least);
}

Network::Network(const Design& design, MakeHandshake make)
    : design_(design), make_(std::move(make)), free_(design.inputs) {
  number_wires();
  connect();
  for (StreamId id : design_.outputs) ready_[wire(id)] = 1;
}

/// Every stream gets its number and its nodes.
void Network::number_wires() {
  const std::size_t streams = design_.streams.size(), nodes = design_.instances.size();
  const std::size_t nobody = padded(nodes);  // beyond the nodes that are looked at
  std::vector<int> producers(streams), consumers(streams);
  wires_.resize(streams);
  ends_.assign(streams, {nobody, nobody});
  std::size_t next = 0;
  const auto add = [&](StreamId id, std::size_t node) {
    if (++consumers.at(static_cast<std::size_t>(id)) > 1) return;
    ends_[next].consumer = node;
    wires_[static_cast<std::size_t>(id)] = next++;
  };
  for (std::size_t n = 0; n < nodes; ++n)
    for (StreamId id : design_.instances[n].inputs) add(id, n);
  for (StreamId id : design_.outputs) add(id, nobody);
  for (const Instance& instance : design_.instances)
    for (StreamId id : instance.outputs) ++producers.at(static_cast<std::size_t>(id));
  for (StreamId id : design_.inputs) ++producers.at(static_cast<std::size_t>(id));
  for (std::size_t i = 0; i < streams; ++i)
    MASE_CHECK(producers[i] == 1 && consumers[i] == 1,
               "stream " + design_.streams[i].name + " needs one producer and one consumer");
}

/// Makes the handshake models, joins them to the signals and shows their first ones.
void Network::connect() {
  const std::size_t streams = design_.streams.size(), nodes = design_.instances.size();
  for (Bytes* bytes : {&valid_, &ready_, &moves_}) bytes->assign(padded(streams), 0);
  moved_.assign(streams, 0);
  watch_of_.assign(streams, 0);
  awake_.assign(padded(nodes) + 1, 0);
  std::fill_n(awake_.begin(), nodes, std::uint8_t{1});
  std::size_t most = 0, first_output = 0, first_input = 0;
  for (std::size_t n = 0; n < nodes; ++n) {
    for (StreamId id : design_.instances[n].outputs) {
      ends_[wire(id)].producer = n;
      output_wires_.push_back(wire(id));
    }
    most = std::max(most, design_.instances[n].outputs.size());
  }
  given_.resize(most);
  for (const Instance& instance : design_.instances) {
    const std::size_t inputs = instance.inputs.size(), outputs = instance.outputs.size();
    const Ports ports{{ready_.data() + first_input, inputs},
                      {moves_.data() + first_input, inputs},
                      {output_wires_.data() + first_output, outputs},
                      valid_.data(),
                      moves_.data(),
                      given_.data()};
    first_input += inputs;
    first_output += outputs;
    nodes_.push_back({.handshake = make_(instance), .ports = ports});
    show(*nodes_.back().handshake, ports);
  }
}

/// How far it is ahead of its schedule, in parts of a cycle; an input without one is never ahead.
std::int64_t Network::ahead(StreamId input) const {
  if (input_interval == 0) return 0;
  return moved(input) * input_interval - cycle_ * design_.stream(input).beats();
}

std::int64_t Network::step() {
  offer();
  ring();
  const std::int64_t beats = move();
  check_followers();
  std::uint8_t* awake = awake_.data();
  const std::size_t count = nodes_.size();
  still_ = beats == 0;
  for (std::size_t first = 0; first < count; first += 8)
    for_each_byte(eight(awake + first), [&](std::size_t byte) {
      awake[first + byte] = clock(first + byte);
      still_ = false;
    });
  ++cycle_;
  return beats;
}

/// The valid of the inputs.
void Network::offer() {
  for (StreamId id : free_) valid_[wire(id)] = ahead(id) <= 0;
  for (const Follower& follower : followers_)
    valid_[wire(follower.input)] = follower.cursor.cycle() == cycle_;
}

void Network::check_followers() {
  for (Follower& follower : followers_) {
    if (valid_[wire(follower.input)] == 0) continue;
    if (moves_[wire(follower.input)] == 0) refused_ = follower.input;
    follower.cursor.advance();
  }
}

void Network::follow(StreamId input, const Trace& trace) {
  std::erase(free_, input);
  followers_.push_back({input, Trace::Cursor(trace)});
}

/// Wakes those whose time has come.
void Network::ring() {
  for (; !alarms_.empty() && alarms_.top().cycle == cycle_; alarms_.pop())
    awake_[alarms_.top().node] = 1;
}

/// Makes up for the edges up to the one of `cycle`.
void Network::catch_up(Node& node, std::int64_t cycle) {
  const std::int64_t missed = cycle - node.clocked;
  if (node.counts && missed > 0) node.handshake->skip(missed);
  node.clocked = cycle;
}

/// The edge of this cycle. Returns whether the next one follows at once.
bool Network::clock(std::size_t number) {
  /// Edges that take less time than an alarm.
  constexpr std::int64_t few = 4;
  Node& node = nodes_[number];
  catch_up(node, cycle_ - 1);
  const std::int64_t quiet = node.handshake->edge(node.ports);
  node.clocked = cycle_;
  node.counts = quiet != forever;
  if (quiet > few && node.counts) alarms_.push({cycle_ + quiet + 1, number});
  return quiet <= few;
}

std::int64_t Network::pause() const {
  if (!still_) return 0;
  std::int64_t next = alarms_.empty() ? forever : alarms_.top().cycle;
  for (const Follower& follower : followers_) next = std::min(next, follower.cursor.cycle());
  for (StreamId id : free_)
    if (!valid_[wire(id)]) {
      const std::int64_t parts = std::max<std::int64_t>(0, ahead(id));
      next = std::min(next, cycle_ + ceiling(parts, design_.stream(id).beats()));
    }
  return next == forever ? forever : next - cycle_;
}

void Network::watch(StreamId in, StreamId out) {
  watches_.push_back({.streams = {in, out}, .in = wire(in), .out = wire(out)});
  watch_of_[wire(in)] = watches_.size();
}

std::vector<Network::Watched> Network::watched() const {
  std::vector<Watched> result;
  for (const Watch& watch : watches_) result.push_back(watch.streams);
  return result;
}

void Network::note_watched() {
  for (const std::size_t number : entered_) {
    Watch& watch = watches_[number - 1];
    watch.most = std::max(watch.most, moved_[watch.in] - moved_[watch.out]);
  }
  entered_.clear();
}

/// The beats of this cycle; those that they concern wake up. Returns how many.
std::int64_t Network::move() {
  // Writing a byte could change any member, as far as the compiler knows.
  const std::uint8_t *valid = valid_.data(), *ready = ready_.data();
  std::uint8_t *moves = moves_.data(), *awake = awake_.data();
  std::int64_t* moved = moved_.data();
  const Ends* ends = ends_.data();
  const std::size_t* watch_of = watch_of_.data();
  const std::size_t count = moves_.size();
  std::int64_t beats = 0;
  for (std::size_t first = 0; first < count; first += 8) {
    const std::uint64_t now = eight(valid + first) & eight(ready + first);
    std::memcpy(moves + first, &now, 8);
    for_each_byte(now, [&](std::size_t byte) {
      ++moved[first + byte];
      ++beats;
      awake[ends[first + byte].producer] = awake[ends[first + byte].consumer] = 1;
      if (watch_of[first + byte] != 0) entered_.push_back(watch_of[first + byte]);
    });
  }
  if (!entered_.empty()) note_watched();
  return beats;
}

Network::State Network::state() {
  for (Node& node : nodes_) catch_up(node, cycle_ - 1);
  State state;
  for (StreamId id : free_) state.inputs.push_back(ahead(id));
  for (const Node& node : nodes_) {
    state.handshakes.push_back(node.handshake->copy());
    if (!state.handshakes.back()) return {};
  }
  return state;
}

bool Network::is_in(const State& state) {
  for (Node& node : nodes_) catch_up(node, cycle_ - 1);
  return std::equal(free_.begin(), free_.end(), state.inputs.begin(), state.inputs.end(),
                    [&](StreamId id, std::int64_t then) { return ahead(id) == then; }) &&
         std::equal(
             nodes_.begin(), nodes_.end(), state.handshakes.begin(), state.handshakes.end(),
             [](const Node& node, const auto& then) { return node.handshake->equals(*then); });
}

std::string Network::blocked() const {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    std::vector<std::string> ports;
    for (StreamId id : design_.instances[n].inputs)
      if (valid_[wire(id)] != ready_[wire(id)])
        ports.push_back((valid_[wire(id)] ? "does not take " : "waits for ") +
                        design_.stream(id).name);
    if (!ports.empty()) names.push_back(design_.instances[n].name + " " + join(ports, " and "));
  }
  return join(names, "; ");
}

}  // namespace mase::design
