// SPDX-License-Identifier: Apache-2.0
// Texts of the emitted folder for other tools: file lists, Makefile.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "hardware/emit/emit.hpp"
#include "hardware/emit/text/names.hpp"

namespace mase::emit {

/// The SystemVerilog files that the design needs, without folder and ending: those of the templates
/// are named after their module. A module stands before those that instantiate it.
std::vector<std::string> modules_used(const design::Design& design);
/// The same for what is on one device.
std::vector<std::string> modules_used(const design::Design& design, int device);
/// These modules, and those of the AXI wrapper.
std::vector<std::string> with_axi(const design::Design& design, std::vector<std::string> modules);

/// The files of the top; design.json lists the others beside them.
Files files_of_top(const design::Design& design, const EmitOptions& options, const Files& others);

/// How Verilator builds the bench (on every core), and what it builds: words without spaces.
inline constexpr const char* bench_build =
    "--cc --exe --build -j 0 -Wall -O3 --x-assign fast --x-initial fast";
inline constexpr const char* bench_model = "--noassert --prefix Vdut --top-module bench_top";
/// As the model's folder below sim/ sees it, and all files of the bench that no design changes.
inline constexpr const char* bench_source = "../bench.cpp";
inline constexpr std::array bench_sources{"bench.cpp",  "dut.cpp",   "dut.hpp",    "options.hpp",
                                          "report.hpp", "signs.hpp", "stalls.hpp", "streams.hpp"};
/// The flags of the C++ compiler and of make. A cycle calls only inline functions of Verilator's
/// runtime, so only the model is optimised, with the bench's arithmetic in front of it. dut.cpp is
/// compiled in one unit with the model: most of the time that either takes is for Verilator's
/// headers.
std::string bench_cflags(int optimise);
std::string bench_makeflags(int optimise);
/// The same of the bench of the AXI wrapper.
inline constexpr const char* axi_build =
    "--cc --exe --build -j 0 -Wall -O3 --x-assign unique --noassert --prefix Vaxi "
    "--top-module axi_bench_top";
inline constexpr const char* axi_source = "../axi_bench.cpp ../../host/mase_host.c";
inline constexpr const char* axi_cflags = "-std=c++20 -O1 -I../../host";
/// For make: the makefile that Verilator includes refuses folders with spaces, though it needs
/// nothing but relative names.
inline constexpr const char* here = "CURDIR=.";
/// Yosys's command for 7-series parts.
inline constexpr const char* synthesise_xc7 =
    "synth_xilinx -family xc7 -noiopad -noclkbuf -flatten";

/// Targets lint, sim, sim-axi, synth, place, clean and those of the makers' tools.
std::string makefile_text(const design::Design& design, const EmitOptions& options);

}  // namespace mase::emit
