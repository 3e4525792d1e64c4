// Network: the controls of a design's instances joined by its streams, run cycle by cycle.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hw/control.hpp"
#include "hw/design.hpp"

namespace mase::hw {

using MakeControl = std::function<std::unique_ptr<Control>(const Instance&)>;
/// The control of an instance's row in the module table.
std::unique_ptr<Control> table_control(const Instance& instance);

/// In every cycle all valid and ready signals are functions of the state; a beat moves where both
/// are high; then every control gets its clock edge. Design inputs offer beats without end, design
/// outputs take everything.
class Network {
 public:
  /// Internal error when a stream has not exactly one producer and one consumer.
  explicit Network(const Design& design, const MakeControl& make = table_control);

  /// Called in every cycle, after the edge, when set: what FIFO sizing observes.
  std::function<void()> observe;
  /// When set, inputs offer their beats evenly, a frame in so many cycles.
  std::int64_t input_interval = 0;

  /// One cycle. Returns how many beats moved.
  std::int64_t step();
  std::int64_t cycle() const { return cycle_; }
  std::int64_t moved(StreamId stream) const { return moved_[static_cast<std::size_t>(stream)]; }

  /// Instances that hold back a beat or offer one that nobody takes, with the ports concerned.
  std::string blocked() const;

 private:
  struct Node {
    std::unique_ptr<Control> control;
    std::size_t first_input = 0, inputs = 0;  ///< ranges of input_streams_ and taken_
    std::size_t first_output = 0, outputs = 0;
  };
  using Bits = std::vector<std::uint64_t>;
  void connect();
  void clock(const Node& node);
  void publish(const Node& node);
  bool offered(StreamId input) const;

  const Design& design_;
  std::vector<Node> nodes_;
  std::vector<StreamId> input_streams_, output_streams_;  ///< of every port, node by node
  std::vector<std::uint8_t> taken_, given_;               ///< of every port
  Bits valid_, ready_, moves_;                            ///< of every stream
  Bits awake_;                            ///< of every node: its state may change without transfers
  std::vector<int> producer_, consumer_;  ///< nodes of every stream, -1 for the design's ports
  std::vector<std::int64_t> moved_;       ///< beats of every stream so far
  std::int64_t cycle_ = 0;
};

}  // namespace mase::hw
