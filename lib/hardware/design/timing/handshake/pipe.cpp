// SPDX-License-Identifier: Apache-2.0
// State changes of the skid and of the pipeline that ends in one.
#include "hardware/design/timing/handshake/pipe.hpp"

#include "base/error.hpp"

namespace mase::design {

Pipe::Pipe(int stages, Stages kept) : stages_(kept == Stages::all ? stages : 0) {
  MASE_CHECK(stages >= 0 && stages <= 64, "a pipeline model has 0 to 64 stages");
}

void SkidHandshake::clock(std::span<const std::uint8_t> taken,
                          std::span<const std::uint8_t> given) {
  skid_.step(taken[0] != 0, given[0] != 0);
}

void PipeHandshake::clock(std::span<const std::uint8_t> taken,
                          std::span<const std::uint8_t> given) {
  pipe_.step(taken[0] != 0, given[0] != 0);
}

}  // namespace mase::design
