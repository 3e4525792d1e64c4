// SPDX-License-Identifier: Apache-2.0
// Options on top of options.
#pragma once

#include "base/tree.hpp"

namespace mase {

/// `below` with the entries of `above`: tables are joined entry by entry, other values of `above`
/// take the place of those of `below`.
Tree join_trees(Tree below, const Tree& above);

}  // namespace mase
