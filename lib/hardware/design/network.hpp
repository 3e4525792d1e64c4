// SPDX-License-Identifier: Apache-2.0
// Network: the handshake models of a design's instances joined by its streams, run cycle by cycle.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hardware/design/design.hpp"
#include "hardware/design/handshake.hpp"

namespace mase::design {

/// Makes the handshake model of an instance.
using MakeHandshake = std::function<std::unique_ptr<Handshake>(const Instance&)>;
/// The handshake model of an instance's row in the module table; internal error where it has none.
std::unique_ptr<Handshake> table_handshake(const Instance& instance);
/// The same that holds the least that the instance can be relied on to hold.
std::unique_ptr<Handshake> least_handshake(const Instance& instance);

/// In every cycle all valid and ready signals are functions of the state; a beat moves where both
/// are high; then every handshake model gets its clock edge. Design inputs offer beats without end,
/// design outputs take everything.
class Network {
 public:
  /// Internal error when a stream has not exactly one producer and one consumer.
  explicit Network(const Design& design, const MakeHandshake& make = table_handshake);

  /// Called in every cycle, after the edge, when set: what FIFO sizing observes.
  std::function<void()> observe;
  /// When set, inputs offer their beats evenly, a frame in so many cycles.
  std::int64_t input_interval = 0;

  /// One cycle. Returns how many beats moved.
  std::int64_t step();
  std::int64_t cycle() const { return cycle_; }
  std::int64_t moved(StreamId stream) const { return moved_[wire(stream)]; }

  /// What the future depends on.
  struct State {
    std::vector<std::unique_ptr<Handshake>> handshakes;  ///< empty when some cannot be compared
    std::vector<std::int64_t> inputs;                    ///< how far each is ahead of its offers
  };
  State state() const;
  bool is_in(const State& state) const;

  /// Instances that hold back a beat or offer one that nobody takes, with the ports concerned.
  std::string blocked() const;

 private:
  struct Node {
    std::unique_ptr<Handshake> handshake;
    Ports ports;
  };
  /// Nodes at the ends of a wire; at the ports of the design a number beyond all nodes.
  struct Ends {
    std::size_t producer, consumer;
  };
  /// Bytes that are 0 or 1, looked at eight at a time; padded with zeros to a multiple of eight.
  using Bytes = std::vector<std::uint8_t>;
  void number_wires();
  void connect(const MakeHandshake& make);
  std::int64_t move();
  std::int64_t ahead(StreamId input) const;
  std::size_t wire(StreamId id) const { return wires_[static_cast<std::size_t>(id)]; }

  const Design& design_;
  std::vector<Node> nodes_;
  /// Streams in the order of the ports that take them, those that leave the design last: so the
  /// inputs of a node are neighbours.
  std::vector<std::size_t> wires_;
  std::vector<Ends> ends_;                 ///< of every wire
  std::vector<std::size_t> output_wires_;  ///< of every output port, node by node
  Bytes valid_, ready_, moves_;            ///< of every wire
  Bytes given_;                            ///< room for the outputs of any node
  Bytes awake_;                      ///< of every node: its state may change without transfers
  std::vector<std::int64_t> moved_;  ///< beats of every wire so far
  std::int64_t cycle_ = 0;
};

}  // namespace mase::design
