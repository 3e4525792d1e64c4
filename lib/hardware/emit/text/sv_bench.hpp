// SPDX-License-Identifier: Apache-2.0
// The bench in SystemVerilog, for simulators other than Verilator.
#pragma once

#include <string>

#include "hardware/design/design.hpp"
#include "hardware/emit/text/names.hpp"

namespace mase::emit {

/// The part of the bench that no design changes, below hw_templates.
inline constexpr const char* sv_bench_parts = "bench/bench_streams.sv";
/// All of its modules.
inline constexpr const char* sv_bench_modules[] = {"bench",       "bench_control", "bench_pause",
                                                   "bench_beats", "bench_source",  "bench_sink"};

/// Module bench: the design between a bench_source for every input and a bench_sink for every
/// output, which read the files of sim/vectors. Its verdict is the simulator's exit code.
std::string sv_bench_text(const design::Design& design, const Names& names);

}  // namespace mase::emit
