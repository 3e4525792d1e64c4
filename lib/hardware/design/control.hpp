// Control: the handshake of one hardware module without its data, cycle for cycle. Designs made of
// controls are run in microseconds: that gives exact latency, interval and FIFO depths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace mase::design {

/// The ports of a control in a network that keeps a byte per stream for each signal.
struct Ports {
  std::span<std::uint8_t> ready;         ///< of the inputs
  std::span<const std::uint8_t> taken;   ///< of the inputs
  std::span<const std::size_t> outputs;  ///< streams: they index `valid` and `moves`
  std::uint8_t* valid;
  const std::uint8_t* moves;
  std::uint8_t* given;  ///< room for a byte per output
};

/// Twin of an RTL module: after reset, `ready` and `valid` equal the module's registers in every
/// cycle under every pattern of transfers.
class Control {
 public:
  virtual ~Control() = default;
  virtual bool ready(int input) const = 0;   ///< a function of the state only
  virtual bool valid(int output) const = 0;  ///< a function of the state only
  /// One rising edge. taken[i]: input i moved a beat (was valid and ready); given[o]: output o did.
  virtual void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) = 0;
  /// Whether edges without transfers leave the state as it is: then a network may leave them out.
  virtual bool idle() const { return false; }

  /// What a network does in a cycle: clocks, shows the signals after the edge, tells whether idle.
  virtual bool edge(const Ports& ports);
  /// Null for a control whose states cannot be compared; then a network is never seen to repeat.
  virtual std::unique_ptr<Control> copy() const { return nullptr; }
  virtual bool equals(const Control&) const { return false; }
};

/// Publishes the signals of a state.
template <class Twin>
void show(const Twin& twin, const Ports& ports) {
  for (std::size_t i = 0; i < ports.ready.size(); ++i)
    ports.ready[i] = twin.ready(static_cast<int>(i));
  for (std::size_t o = 0; o < ports.outputs.size(); ++o)
    ports.valid[ports.outputs[o]] = twin.valid(static_cast<int>(o));
}

/// Control::edge without virtual calls where `Twin` is a final class.
template <class Twin>
bool run_edge(Twin& twin, const Ports& ports) {
  const std::size_t outputs = ports.outputs.size();
  for (std::size_t o = 0; o < outputs; ++o) ports.given[o] = ports.moves[ports.outputs[o]];
  twin.clock(ports.taken, {ports.given, outputs});
  show(twin, ports);
  return twin.idle();
}

/// Base of the final class `Twin`, which has == over its whole state: knowing the class, an edge is
/// one virtual call.
template <class Twin>
class TwinOf : public Control {
 public:
  bool edge(const Ports& ports) final { return run_edge(static_cast<Twin&>(*this), ports); }
  std::unique_ptr<Control> copy() const final {
    return std::make_unique<Twin>(static_cast<const Twin&>(*this));
  }
  bool equals(const Control& other) const final {
    const auto* twin = dynamic_cast<const Twin*>(&other);
    return twin && *twin == static_cast<const Twin&>(*this);
  }
  bool operator==(const TwinOf&) const { return true; }  ///< the base has no state
};

}  // namespace mase::design
