// SPDX-License-Identifier: Apache-2.0
// The AXI wrapper of a design, and what a host has to know of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "hardware/emit/emit.hpp"
#include "hardware/emit/text/scope.hpp"

namespace mase::emit {

/// Where the elements of a beat lie in TDATA: element i from bit i * lane_bits on.
struct AxiLayout {
  std::int64_t lane_bits = 0;  ///< per element, its padding included
  std::int64_t bytes = 0;      ///< of TDATA
};
AxiLayout axi_layout(const design::Stream& stream, const EmitOptions& options);

/// What the register DESIGN of a wrapper says: the first 32 bits of the SHA-256 of the top module
/// and the memory images as hex digits, so that a host knows which design it talks to. Images that
/// a host may replace do not count.
std::string design_number(const design::Design& design, const Names& names);

/// A signal of AXI4-Lite, seen from the registers; width 0 is a scalar.
struct RegisterSignal {
  const char* name;
  bool input;
  std::int64_t width;
};
inline constexpr auto register_signals = std::to_array<RegisterSignal>({{"awvalid", true, 0},
                                                                        {"awready", false, 0},
                                                                        {"awaddr", true, 6},
                                                                        {"wvalid", true, 0},
                                                                        {"wready", false, 0},
                                                                        {"wdata", true, 32},
                                                                        {"wstrb", true, 4},
                                                                        {"bvalid", false, 0},
                                                                        {"bready", true, 0},
                                                                        {"bresp", false, 2},
                                                                        {"arvalid", true, 0},
                                                                        {"arready", false, 0},
                                                                        {"araddr", true, 6},
                                                                        {"rvalid", false, 0},
                                                                        {"rready", true, 0},
                                                                        {"rdata", false, 32},
                                                                        {"rresp", false, 2}});

/// The signals of an AXI4-Stream, as its ports and its adapter's end.
inline constexpr std::array stream_signals{"tvalid", "tready", "tdata", "tkeep", "tlast"};
/// Begins the names of a stream's ports at the wrapper: s_axis_<stream> or m_axis_<stream>.
std::string axi_prefix(const Names& names, design::StreamId id, bool input);

/// Module <scope>_axi around a scope of the design: an AXI4-Stream port per stream at the border,
/// its links as they are, and AXI4-Lite registers; `number` is the design_number. Where no stream
/// enters or leaves, the frames of the first link count.
verilog::Module axi_module(const design::Design& design, const Names& names, const Scope& scope,
                           const EmitOptions& options, const std::string& number);

/// Module axi_bench_top: the wrapper with ports whose names are those of every design.
std::string axi_bench_top_text(const design::Design& design, const Names& names,
                               const EmitOptions& options);

/// Header for the driver in C: a row per stream, and the design's number.
std::string host_header(const design::Design& design, const Names& names,
                        const EmitOptions& options, const std::string& number);

}  // namespace mase::emit
