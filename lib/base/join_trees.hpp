// SPDX-License-Identifier: Apache-2.0
// Joins two trees of options.
#pragma once

#include "base/tree.hpp"

namespace mase {

/// `below` with the entries of `above`: tables are joined entry by entry, and other values of
/// `above` replace those of `below`.
Tree join_trees(Tree below, const Tree& above);

}  // namespace mase
