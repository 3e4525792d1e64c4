// SPDX-License-Identifier: Apache-2.0
// Placement and routing by nextpnr: the clock that a design really reaches on a device.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hardware/design/design.hpp"
#include "hardware/emit/text/devices.hpp"

namespace mase::emit {

/// Times of paths from register to register, in nanoseconds.
struct Placement {
  std::string top;               ///< what was placed
  std::optional<int> device_id;  ///< of several
  std::string family, device;
  std::int64_t seed = 0;
  double target_mhz = 0;  ///< asked for
  double mhz = 0;         ///< reached by the slowest path

  /// The slowest path: where it begins and ends, and what it spends inside and between cells.
  std::string from, to;
  double logic = 0, routing = 0;

  /// By instance of the design: the slowest path that ends in it, and its register there.
  struct Slowest {
    double ns = 0;
    std::string at;
  };
  std::map<std::string, Slowest> instances;

  /// Cells by kind, with those of the registers around the design (see boundary_text).
  struct Use {
    std::int64_t used = 0, available = 0;
  };
  std::map<std::string, Use> use;
  double seconds = 0;
};

/// Places and routes the top of the emitted folder, or of each of its devices, on the smallest
/// device of a family ("ecp5", "ice40") that holds it, beginning where the seed says.
/// Error(Fault::config) when the family cannot be placed or no device holds it; Error(Fault::file)
/// with the tool's own message when Yosys or nextpnr is missing or fails.
std::vector<Placement> place(const std::string& hardware_folder, const design::Design& design,
                             const std::string& family, double target_mhz, std::int64_t seed);

/// What begins the name of the module around a placed top.
inline constexpr const char* boundary_name = "mase_place_boundary";
/// That module: every port of the top has a register, and few pins shift these, so that designs
/// with more ports than pins are placed too and paths from and to other logic count.
std::string boundary_text(const design::Design& design, const Names& names,
                          const DeviceScope& part);

/// From nextpnr's report (--report --detailed-timing-report) on a boundary.
Placement placement_of_report(const std::string& json);

}  // namespace mase::emit
