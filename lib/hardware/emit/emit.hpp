// SPDX-License-Identifier: Apache-2.0
// Emission: a design as a self-contained folder of SystemVerilog, memory images, C++ bench and
// scripts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/field.hpp"
#include "hardware/design/clock.hpp"
#include "hardware/design/design.hpp"

namespace mase::emit {

/// What emission needs beside the design; design.json holds it under the same names.
struct EmitOptions {
  double clock_mhz = design::default_clock_mhz;
  std::string part = "xc7a100tcsg324-1";
  std::string tdata = "packed";
  static constexpr auto fields() {
    using E = EmitOptions;
    return std::tuple{
        Field{"clock_mhz", &E::clock_mhz, "target clock"}.between(0.001, 10000),
        Field{"part", &E::part, "FPGA part of the Vivado project"},
        Field{"tdata", &E::tdata,
              "elements of an AXI4-Stream beat: side by side, each in whole bytes, or "
              "each and the beat in a power of two of them"}
            .one_of("packed", "bytes", "power_of_two")};
  }
};

/// Relative path → content of everything emitted: rtl/*.sv, rtl/*.mem, sim/*, filelist.f,
/// design.json, Makefile, vivado/*. Deterministic: the same design gives the same bytes.
using Files = std::map<std::string, std::string>;
/// The frames that `make sim` runs. They take up to a second to make.
Files vector_files(const design::Design& design);
std::vector<std::string> vector_names(const design::Design& design);  ///< of those files
Files top_files(const design::Design& design, const EmitOptions& options,
                const Files& vectors);                                  ///< emit_verilog_top
Files module_files(const design::Design& design);                       ///< emit_internal_rtl
Files memory_files(const design::Design& design);                       ///< emit_bram
Files bench_files(const design::Design& design, const Files& vectors);  ///< emit_verilog_tb
Files all_files(const design::Design& design, const EmitOptions& options, const Files& vectors);
Files all_files(const design::Design& design, const EmitOptions& options);

/// What was measured of the design in a folder; it goes when another design is emitted there.
inline constexpr const char* synthesis_file = "synthesis.json";
inline constexpr const char* placement_file = "placement.json";
inline constexpr const char* implementation_file = "implementation.json";

/// Writes files below `folder`, each atomically; nothing is written when one cannot be made.
void write_files(const std::string& folder, const Files& files);

}  // namespace mase::emit
