// SPDX-License-Identifier: Apache-2.0
// Mutants: emitted hardware with one bit of a constant flipped, and whether the frames catch it.
#pragma once

#include <cstdint>

#include "driver/hardware.hpp"
#include "driver/session.hpp"
#include "hardware/emit/emit.hpp"

namespace mase::driver {

/// Runs `count` mutants, bits of the design's memories drawn by options.seed, and prints the share
/// that the vectors catch of those that can be observed: those whose outputs differ in the integer
/// model on the vectors or on any of many further frames. The exit code: 0 when that share is at
/// least 99 % and the RTL shows every bit that the model shows.
int run_mutants(const Hardware& hardware, const emit::Vectors& vectors,
                const emit::SimulateOptions& options, std::int64_t count, Output& output);

/// Builds and runs `count` mutants of the SystemVerilog, one changed operator or constant each, and
/// prints the share that the vectors catch and the lines of those that pass: some of these compute
/// the same. Those that Verilator refuses are drawn anew. The exit code is 0.
int run_rtl_mutants(const Hardware& hardware, const emit::Vectors& vectors,
                    const emit::SimulateOptions& options, std::int64_t count, Output& output);

}  // namespace mase::driver
