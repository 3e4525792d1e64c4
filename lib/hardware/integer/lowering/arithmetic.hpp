// SPDX-License-Identifier: Apache-2.0
// Two arguments of one shape and order, and what joins them.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "hardware/integer/lowering/call.hpp"

namespace mase::integer {

/// Whether an argument is computed from the inputs. Refused where it has no datapath.
bool is_stream(const Call& call, std::string_view argument);
/// A stream in another shape: dimensions of 1 repeated.
StreamView repeated(const Call& call, const StreamView& x, const Shape& shape,
                    std::string_view port);
/// The constant of each channel of the stream, or of each element where it varies along other
/// dimensions too. Torch broadcasting: the constants' dimensions are the last ones of [batch,
/// frame...].
Constants in_stream_order(const Call& call, const StreamView& x, Constants constants);
/// Two arguments in the frame of the result, which they may broadcast to, and in one order.
std::pair<StreamView, StreamView> alike(const Call& call, std::string_view a, std::string_view b);
/// The same of two streams, which stand at these ports.
std::pair<StreamView, StreamView> alike(const Call& call, StreamView a, StreamView b,
                                        std::string_view first, std::string_view second);

/// The step that joins two streams of one shape and order, without requantisation.
std::pair<Binary, Accumulator> binary_step(const Call& call, BinaryKind kind, const StreamView& a,
                                           const StreamView& b);
/// The sum, product ... of two streams of one shape and order.
StreamView combined(const Call& call, BinaryKind kind, const StreamView& a, const StreamView& b);
/// A stream plus an argument, which may be a stream with masks, a stream or a constant.
Operand sum_with(const Call& call, const StreamView& x, std::string_view argument);

/// x where it is positive, else x times a slope for all or for each channel.
Operand sloped(const Call& call, const StreamView& x, Constants slope);

}  // namespace mase::integer
