// SPDX-License-Identifier: Apache-2.0
// Streams of element formats with codes as short as their formats'.
#pragma once

#include "hardware/integer/program.hpp"

namespace mase::integer {

/// Gives streams that are on the levels of an element format short codes. Steps that round to
/// levels or look them up give such codes; what moves, clamps or chooses by size works on them as
/// they are, because they ascend with their numbers; functions become tables of them. In front of
/// every other step, and of results, a table decodes them.
void shorten_codes(Program& program);

}  // namespace mase::integer
