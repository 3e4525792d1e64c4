// SPDX-License-Identifier: Apache-2.0
// Padding, and numbers among the codes of a stream.
#pragma once

#include <cstdint>
#include <optional>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// How many elements stand before and after each torch dimension of a frame; negative ones are
/// left out.
struct Pads {
  Shape before, after;
};
/// What a node puts zeros around, and how many; nullopt for the value of any other node.
struct ZerosAround {
  ir::Value input;
  Pads pads;
};
std::optional<ZerosAround> zeros_around(const Call& reader, const ir::Value& value);

/// A stream, whose type grows where it has to, and the code of a number among its codes: that of
/// the grid of the result. Infinite numbers are its bounds.
struct Filled {
  StreamView x;
  std::int64_t code = 0;
};
Filled filled(const Call& call, StreamView x, double value);

}  // namespace mase::integer
