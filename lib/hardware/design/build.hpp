// SPDX-License-Identifier: Apache-2.0
// From a program and the folds of its steps to a design.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "hardware/design/design.hpp"

namespace mase::design {

/// Builds instances and streams of every step, forks where a value has several consumers, width
/// converters, FIFOs with the depths that the handshake models ask for, memory images, and the
/// timing. A value that another device reads goes there by a link. Error(Fault::config) for folds
/// that do not divide, naming step, number and what would divide.
Design build(std::shared_ptr<const integer::Program> program, const Folding& folding,
             const Distribution& distribution = {});

using FifoDepths = std::map<std::string, std::int64_t>;  ///< by instance name
/// The depths of the FIFO instances of a design.
FifoDepths fifo_depths(const Design& design);

/// Memory images of a design: without their words it is only good for its cost.
enum class Images { complete, empty };

/// `build` without timing, with these FIFOs; nullptr: all that could be of use, with a depth of 2.
Design assemble(std::shared_ptr<const integer::Program> program, const Folding& folding,
                const FifoDepths* fifos = nullptr, Images images = Images::complete,
                const Distribution& distribution = {});
/// `build` without timing, with FIFOs that an earlier build of the same program and folding found.
Design rebuild(std::shared_ptr<const integer::Program> program, const Folding& folding,
               const FifoDepths& fifos, const Distribution& distribution = {});

}  // namespace mase::design
