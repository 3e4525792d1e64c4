// SPDX-License-Identifier: Apache-2.0
// Network: the handshake models of a design's instances joined by its streams, run cycle by cycle.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "hardware/design/design.hpp"
#include "hardware/design/timing/handshake.hpp"
#include "hardware/design/timing/trace.hpp"

namespace mase::design {

/// Makes the handshake model of an instance.
using MakeHandshake = std::function<std::unique_ptr<Handshake>(const Instance&)>;
/// The handshake model of an instance's module.
std::unique_ptr<Handshake> table_handshake(const Instance& instance);
/// The same that holds the least that the instance can be relied on to hold.
std::unique_ptr<Handshake> least_handshake(const Instance& instance);

/// Beats that move through a design, cycle by cycle.
class Traffic {
 public:
  /// When set, inputs offer their beats evenly, a frame in so many cycles.
  std::int64_t input_interval = 0;

  virtual ~Traffic() = default;
  /// One cycle. Returns how many beats moved.
  virtual std::int64_t step() = 0;
  /// How many cycles nothing can happen in after this one; 0 while something may.
  virtual std::int64_t pause() const = 0;
  /// So many of them, at most `pause()`.
  virtual void pass(std::int64_t cycles) = 0;
  virtual std::int64_t cycle() const = 0;
  virtual std::int64_t moved(StreamId stream) const = 0;  ///< beats so far
};

/// In every cycle all valid and ready signals are functions of the state; a beat moves where both
/// are high; then every handshake model gets its clock edge. Design inputs offer beats without end,
/// design outputs take everything.
class Network final : public Traffic {
 public:
  /// Internal error when a stream has not exactly one producer and one consumer.
  explicit Network(const Design& design, MakeHandshake make = table_handshake);

  std::int64_t step() override;
  std::int64_t pause() const override;
  void pass(std::int64_t cycles) override { cycle_ += cycles; }
  std::int64_t cycle() const override { return cycle_; }
  std::int64_t moved(StreamId stream) const override { return moved_[wire(stream)]; }
  bool moves(StreamId stream) const { return moves_[wire(stream)] != 0; }  ///< in the last cycle
  /// Whether nothing happens any more before an input offers a beat.
  bool rests() const { return still_ && alarms_.empty(); }

  /// From now on the input offers its beats in the cycles of the trace, and they must be taken at
  /// once: one that is not makes the input `refused`, and what the network does is void.
  void follow(StreamId input, const Trace& trace);
  std::optional<StreamId> refused() const { return refused_; }

  /// From now on the most beats between the two streams after a cycle are noted: FIFO `number`
  /// holds them.
  void watch(StreamId in, StreamId out);
  /// By the order of the calls of `watch`.
  std::int64_t most_between(std::size_t number) const { return watches_[number].most; }
  void set_most_between(std::size_t number, std::int64_t most) { watches_[number].most = most; }

  /// What it was made from, for another network of the same parts.
  struct Watched {
    StreamId in, out;
  };
  const Design& design() const { return design_; }
  const MakeHandshake& maker() const { return make_; }
  std::vector<Watched> watched() const;

  /// What the future depends on.
  struct State {
    std::vector<std::unique_ptr<Handshake>> handshakes;  ///< empty when some cannot be compared
    std::vector<std::int64_t> inputs;                    ///< how far each is ahead of its offers
  };
  State state();
  bool is_in(const State& state);

  /// Instances that hold back a beat or offer one that nobody takes, with the ports concerned.
  std::string blocked() const;

 private:
  struct Node {
    std::unique_ptr<Handshake> handshake;
    Ports ports;
    std::int64_t clocked = -1;  ///< cycle of its last edge
    bool counts = false;        ///< the edges since then are made up for
  };
  /// When a node must be clocked again, if it has not been before.
  struct Alarm {
    std::int64_t cycle;
    std::size_t node;
    bool operator>(const Alarm& other) const { return cycle > other.cycle; }
  };
  struct Watch {
    Watched streams;
    std::size_t in, out;  ///< wires
    std::int64_t most = 0;
  };
  struct Follower {
    StreamId input;
    Trace::Cursor cursor;
  };
  /// Nodes at the ends of a wire; at the ports of the design a number beyond all nodes.
  struct Ends {
    std::size_t producer, consumer;
  };
  /// Bytes that are 0 or 1, looked at eight at a time; padded with zeros to a multiple of eight.
  using Bytes = std::vector<std::uint8_t>;
  void number_wires();
  void connect();
  void offer();
  void check_followers();
  void ring();
  bool clock(std::size_t number);
  void catch_up(Node& node, std::int64_t cycle);
  std::int64_t move();
  void note_watched();
  std::int64_t ahead(StreamId input) const;
  std::size_t wire(StreamId id) const { return wires_[static_cast<std::size_t>(id)]; }

  const Design& design_;
  MakeHandshake make_;
  std::vector<StreamId> free_;  ///< inputs that follow no trace
  std::vector<Follower> followers_;
  std::optional<StreamId> refused_;
  std::vector<Node> nodes_;
  /// Streams in the order of the ports that take them, those that leave the design last: so the
  /// inputs of a node are neighbours.
  std::vector<std::size_t> wires_;
  std::vector<Ends> ends_;                 ///< of every wire
  std::vector<std::size_t> output_wires_;  ///< of every output port, node by node
  Bytes valid_, ready_, moves_;            ///< of every wire
  Bytes given_;                            ///< room for the outputs of any node
  Bytes awake_;  ///< of every node: its state may change without transfers
  std::priority_queue<Alarm, std::vector<Alarm>, std::greater<>> alarms_;
  std::vector<std::int64_t> moved_;  ///< beats of every wire so far
  std::vector<Watch> watches_;
  std::vector<std::size_t>
      watch_of_;  ///< of every wire: number + 1 of the watch it leads into, or 0
  std::vector<std::size_t> entered_;  ///< watches into which a beat moved in this cycle
  bool still_ = false;                ///< the last cycle changed nothing
  std::int64_t cycle_ = 0;
};

}  // namespace mase::design
