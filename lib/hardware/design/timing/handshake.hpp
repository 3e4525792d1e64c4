// SPDX-License-Identifier: Apache-2.0
// The handshake model of a hardware module: its valid and ready without its data, cycle for cycle.
// Networks of these models are run in microseconds: that gives exact latency, interval and FIFO
// depths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace mase::design {

/// The ports of a handshake model in a network that keeps a byte per stream for each signal.
struct Ports {
  std::span<std::uint8_t> ready;         ///< of the inputs
  std::span<const std::uint8_t> taken;   ///< of the inputs
  std::span<const std::size_t> outputs;  ///< streams: they index `valid` and `moves`
  std::uint8_t* valid;
  const std::uint8_t* moves;
  std::uint8_t* given;  ///< room for a byte per output
};

/// What the pipelines of a model hold. A stalled pipeline keeps its gaps, so what it holds beyond
/// the skid at its end depends on how the beats came.
enum class Stages {
  all,   ///< all of the module's registers: the model is exact
  least  ///< what can be relied on however beats come: the skid only
};

/// No number of cycles.
inline constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();

/// By port: whether a beat moved.
using Moves = std::span<const std::uint8_t>;

/// Handshake model of an RTL module, with all stages: after reset, `ready` and `valid` equal the
/// module's registers in every cycle under every pattern of transfers.
class Handshake {
 public:
  virtual ~Handshake() = default;
  virtual bool ready(int input) const = 0;   ///< a function of the state only
  virtual bool valid(int output) const = 0;  ///< a function of the state only
  /// One rising edge. taken[i]: input i moved a beat (was valid and ready); given[o]: output o did.
  virtual void clock(Moves taken, Moves given) = 0;
  /// How many edges without transfers leave `ready` and `valid` as they are. A network may leave
  /// these out if it makes up for them by `skip`; `forever`: they change nothing at all.
  virtual std::int64_t quiet() const { return 0; }
  /// As many edges without transfers: between 1 and `quiet()`, which is not `forever`.
  virtual void skip(std::int64_t) {}

  /// What a network does in a cycle: clocks, shows the signals after the edge, tells how long they
  /// are `quiet`.
  virtual std::int64_t edge(const Ports& ports);
  /// Null for a handshake model whose states cannot be compared; then a network is never seen to
  /// repeat.
  virtual std::unique_ptr<Handshake> copy() const { return nullptr; }
  virtual bool equals(const Handshake&) const { return false; }
};

/// Publishes the signals of a state.
template <class Model>
void show(const Model& model, const Ports& ports) {
  for (std::size_t i = 0; i < ports.ready.size(); ++i)
    ports.ready[i] = model.ready(static_cast<int>(i));
  for (std::size_t o = 0; o < ports.outputs.size(); ++o)
    ports.valid[ports.outputs[o]] = model.valid(static_cast<int>(o));
}

/// Handshake::edge without virtual calls where `Model` is a final class.
template <class Model>
std::int64_t run_edge(Model& model, const Ports& ports) {
  const std::size_t outputs = ports.outputs.size();
  for (std::size_t o = 0; o < outputs; ++o) ports.given[o] = ports.moves[ports.outputs[o]];
  model.clock(ports.taken, {ports.given, outputs});
  show(model, ports);
  return model.quiet();
}

/// Base of the final class `Model`, which has == over its whole state: knowing the class, an edge
/// is one virtual call.
template <class Model>
class HandshakeOf : public Handshake {
 public:
  std::int64_t edge(const Ports& ports) final {
    return run_edge(static_cast<Model&>(*this), ports);
  }
  std::unique_ptr<Handshake> copy() const final {
    return std::make_unique<Model>(static_cast<const Model&>(*this));
  }
  bool equals(const Handshake& other) const final {
    const auto* model = dynamic_cast<const Model*>(&other);
    return model && *model == static_cast<const Model&>(*this);
  }
  bool operator==(const HandshakeOf&) const { return true; }  ///< the base has no state
};

}  // namespace mase::design
