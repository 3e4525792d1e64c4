// SPDX-License-Identifier: Apache-2.0
// The sizes of inputs for which a program is the model that was exported.
#pragma once

#include <string>
#include <vector>

#include "base/tree.hpp"
#include "pt2/program.hpp"

namespace mase::pt2 {

/// The conditions of guards_code in the text of guards: "size(x, 0) == 2". A file without it, from
/// an earlier torch, has the most of each size in range_constraints. `document` is the file, of
/// which inputs and tensors have been read.
std::vector<std::string> conditions_of(const Tree& document, const Program& program);

}  // namespace mase::pt2
