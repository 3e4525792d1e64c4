// SPDX-License-Identifier: Apache-2.0
// What every device may hold: limits of resources, and how far a part of a design fills them.
#pragma once

#include <string>
#include <vector>

#include "hardware/design/cost.hpp"
#include "hardware/design/distribution.hpp"

namespace mase::design {

/// The limits of devices, those of their options: a list has a number for each device, or one for
/// all of them.
class DeviceLimits {
 public:
  DeviceLimits() = default;
  explicit DeviceLimits(const DeviceOptions& options);

  bool empty() const;
  /// How far a device would be filled: the largest share that is taken of a limit; 1 is full.
  double load(int device, const Cost& cost) const;
  /// "takes 1200 LUTs, 200 more than device_lut allows (1000)"; empty for what fits.
  std::string excess_text(int device, const Cost& cost) const;
  /// Error(Fault::config) for a list of several numbers that does not end with the last device.
  void check_numbers(const std::vector<int>& devices) const;

 private:
  struct Limit {
    const struct LimitRow* row;
    std::vector<double> amounts;
    double of(int device) const;
  };
  std::vector<Limit> limits_;
};

/// Error(Fault::config) if a device of the design takes more than it may, with what would do.
void check_limits(const Design& design, const DeviceLimits& limits);
/// What may be changed where a device is too small.
extern const char* const limits_remedy;

}  // namespace mase::design
