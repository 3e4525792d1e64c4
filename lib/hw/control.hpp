// Control: the handshake of one hardware module without its data, cycle for cycle. Designs made of
// controls are run in microseconds: that gives exact latency, interval and FIFO depths.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace mase::hw {

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
};

}  // namespace mase::hw
