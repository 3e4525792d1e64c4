// SPDX-License-Identifier: Apache-2.0
// A mesh of devices: rows of machines, each with columns of devices, and what its links cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mase::sharding {

/// Axis 0 goes from machine to machine, axis 1 from device to device within a machine.
inline constexpr std::size_t axis_count = 2;

/// Devices in rows and columns. Device [i, j] has the number i * sizes[1] + j.
struct Mesh {
  std::array<std::int64_t, axis_count> sizes{1, 1};
  std::array<double, axis_count> bandwidth{1, 1};  ///< bytes per second of a link along the axis
  std::array<double, axis_count> latency{0, 0};    ///< seconds per collective along the axis
  double flops = 1;                                ///< operations per second of one device
  double memory_bandwidth = 1;  ///< bytes per second between a device and its own memory

  std::int64_t devices() const { return sizes[0] * sizes[1]; }
  /// The place of a device along an axis.
  std::int64_t place(std::int64_t device, std::size_t axis) const {
    return axis == 0 ? device / sizes[1] : device % sizes[1];
  }
};

/// What the devices of one line along an axis do together to change a layout.
enum class Collective {
  slice,           ///< each keeps its part of what all have
  keep_first,      ///< the first keeps what all have, the others have zeros: addends of a sum
  all_gather,      ///< all get the parts of all
  all_reduce,      ///< all get the sum
  reduce_scatter,  ///< each gets its part of the sum
  all_to_all,      ///< parts along one dimension become parts along another one
};
std::string_view collective_name(Collective kind);

/// Seconds of a collective over a line of n devices with the inverse bandwidth b and the latency a.
/// `bytes` is what one device has without the split along this axis: what all_gather and all_to_all
/// have in total, and what a device adds to all_reduce and reduce_scatter. The ring algorithms take
/// a + b (n - 1) / n * bytes to gather or to scatter, and twice as long to reduce (Alpa, OSDI 2022,
/// section 4.2); all_to_all takes a + b (n - 1) / n^2 * bytes * n / 2, with Alpa's penalty of n / 2
/// for its many small messages. Slicing costs nothing.
double seconds_of(const Mesh& mesh, Collective kind, std::size_t axis, double bytes);

}  // namespace mase::sharding
