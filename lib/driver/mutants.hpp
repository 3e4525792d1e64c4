// SPDX-License-Identifier: Apache-2.0
// Mutants: emitted hardware with one fault, run to see whether the frames detect the fault.
#pragma once

#include <cstdint>

#include "driver/hardware.hpp"
#include "driver/session.hpp"
#include "hardware/emit/simulate.hpp"

namespace mase::driver {

/// Runs `count` mutants, each with one bit of the design's memories flipped, drawn with
/// options.seed, and prints the share of observable ones that the vectors catch. A bit is
/// observable if the integer model's outputs differ on the vectors or on any of many further
/// frames. Returns 0 if the share is at least 99 % and the RTL shows all bits that the model shows.
int run_mutants(const Hardware& hardware, const emit::Vectors& vectors,
                const emit::SimulateOptions& options, std::int64_t count, Output& output);

/// Builds and runs `count` mutants of the SystemVerilog, each with a changed operator or constant.
/// Prints the share that the vectors catch, and the lines of the others, some of which compute the
/// same as before. Mutants that Verilator rejects are drawn again. Returns 0.
int run_rtl_mutants(const Hardware& hardware, const emit::Vectors& vectors,
                    const emit::SimulateOptions& options, std::int64_t count, Output& output);

}  // namespace mase::driver
