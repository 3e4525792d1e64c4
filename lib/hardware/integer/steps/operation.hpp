// SPDX-License-Identifier: Apache-2.0
// Operation: any one of the steps.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "hardware/integer/steps/argmax.hpp"
#include "hardware/integer/steps/binary.hpp"
#include "hardware/integer/steps/block_input.hpp"
#include "hardware/integer/steps/block_shift.hpp"
#include "hardware/integer/steps/cast.hpp"
#include "hardware/integer/steps/channel_shift.hpp"
#include "hardware/integer/steps/concat.hpp"
#include "hardware/integer/steps/convolution.hpp"
#include "hardware/integer/steps/cumulative_sum.hpp"
#include "hardware/integer/steps/divide.hpp"
#include "hardware/integer/steps/embedding.hpp"
#include "hardware/integer/steps/gather.hpp"
#include "hardware/integer/steps/insert.hpp"
#include "hardware/integer/steps/linear.hpp"
#include "hardware/integer/steps/lookup.hpp"
#include "hardware/integer/steps/matmul.hpp"
#include "hardware/integer/steps/octave_pieces.hpp"
#include "hardware/integer/steps/piecewise.hpp"
#include "hardware/integer/steps/pool.hpp"
#include "hardware/integer/steps/quantize.hpp"
#include "hardware/integer/steps/repeat.hpp"
#include "hardware/integer/steps/row_reduce.hpp"
#include "hardware/integer/steps/scale_shift.hpp"
#include "hardware/integer/steps/slice.hpp"
#include "hardware/integer/steps/square_root.hpp"

namespace mase::integer {

/// What a step computes.
using Operation =
    std::variant<Cast, Linear, Convolution, ScaleShift, ChannelShift, Lookup, Pool, Binary, Concat,
                 Slice, Gather, Argmax, Divide, Matmul, RowReduce, Repeat, SquareRoot, Insert,
                 Embedding, Piecewise, CumulativeSum, Quantize, BlockShift, OctavePieces>;

std::string_view step_kind(const Operation& operation);     ///< "linear", "pool", ...
std::string operation_name(const Operation& operation);     ///< "linear", "max_pool", ...
std::string operation_details(const Operation& operation);  ///< what its name leaves open
/// Whether the operation gives codes of its inputs as they are.
bool only_moves(const Operation& operation);
/// Whether the operation takes short codes (StreamValue::code) in the place of their numbers.
bool decodes_inputs(const Operation& operation);
/// The blocks of the operation's first input, whose exponents are the second one; none for others.
BlockInput blocks_of(const Operation& operation);
/// The operation on numbers, without the input of exponents.
void take_numbers(Operation& operation);
/// Whether the operation gives the numbers of its inputs, as codes of another type at most.
bool keeps_numbers(const Operation& operation);
/// Products of two numbers that are summed up to one element of the result.
std::int64_t products(const Operation& operation);
/// The matrix of constants that the operation multiplies by; nullopt where there is none.
std::optional<ConstantMatrix> constant_matrix(const Operation& operation);
/// How closely the operation computes its function; nullopt where it is exact.
std::optional<Approximation> approximation(const Operation& operation);
/// The end of the whole numbers that an input may be, the first of which is 0; nullopt for others.
std::optional<std::int64_t> index_end(const Operation& operation);
/// What becomes of a cast behind the operation, and its codes after a cast that enters or passes.
CastBehind cast_behind(const Operation& operation);
void take_cast(Operation& operation, const Requantise& cast);
/// Bits of the numbers on the way to the accumulator where they can be more than its own, else 0.
int sum_bits(const Operation& operation, std::span<const FixedType> inputs);

}  // namespace mase::integer
