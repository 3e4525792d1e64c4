// SPDX-License-Identifier: Apache-2.0
// Frames for a simulation: rows of a data set or of .npy files, or random codes, with the outputs
// that the integer model expects.
#pragma once

#include <cstdint>

#include "data/dataset.hpp"
#include "driver/commands/commands.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/integer/program.hpp"

namespace mase::driver {

/// Makes frames from the request's .npy files, else from its texts, which the tokenizer of
/// `options` turns into as many tokens as the hardware takes, else at random, else from the rows of
/// the data set, else from those emitted with the bench. The inputs of the data set are put into
/// the program's order. Random frames begin with edge cases: all codes smallest, all largest,
/// alternating, zero.
emit::Vectors make_frames(const integer::Program& program, data::Dataset* dataset,
                          const SimulateRequest& request, const data::DataOptions& options,
                          std::uint64_t seed);

}  // namespace mase::driver
