// SPDX-License-Identifier: Apache-2.0
// The generated modules: the design's top and the bench's view of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hardware/design/design.hpp"
#include "hardware/emit/text/names.hpp"

namespace mase::emit {

/// The top module: all instances, or those of each device in a module of its own. Internal error
/// when a stream stands twice at the border.
std::string top_text(const design::Design& design, const Names& names);

/// Module bench_top. Its ports are vectors over all streams, so that one C++ bench fits every
/// design; see BenchLayout.
std::string bench_top_text(const design::Design& design, const Names& names);

/// Where the streams of one direction stand in in_data or out_data of bench_top. Every stream
/// begins at a multiple of 32 bits, and the vector has at least 96 bits: Verilator then makes it an
/// array of 32-bit words in every design. Bit i of the 64-bit valid and ready belongs to stream i.
struct BenchLayout {
  std::vector<std::int64_t> first_bit;  ///< by position among the design's inputs or outputs
  std::int64_t width = 0;
};
/// Error(Fault::unsupported) for more than 64 streams.
BenchLayout bench_layout(const design::Design& design,
                         const std::vector<design::StreamId>& streams);

}  // namespace mase::emit
