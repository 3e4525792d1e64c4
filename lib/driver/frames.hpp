// SPDX-License-Identifier: Apache-2.0
// Frames for the simulation: rows of a data set, of .npy files, or random codes, with the outputs
// that the integer model expects.
#pragma once

#include <cstdint>

#include "data/dataset.hpp"
#include "driver/commands.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/integer/program.hpp"

namespace mase::driver {

/// Takes the request's .npy files, else random frames, else the data set's rows, else the frames
/// that are emitted beside the bench. The data set follows the program's inputs. Random frames
/// begin with the edges: all codes least, all greatest, the two in turn, and all zero.
emit::Vectors make_frames(const integer::Program& program, data::Dataset* dataset,
                          const SimulateRequest& request, std::uint64_t seed);

}  // namespace mase::driver
