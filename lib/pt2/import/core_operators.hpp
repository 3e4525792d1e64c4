// SPDX-License-Identifier: Apache-2.0
// Operators of PyTorch's decompositions, and the operators that models call in their place.
#pragma once

#include <string_view>

#include "pt2/import/importer.hpp"

namespace mase::pt2 {

/// Whether an operator is one that decompositions write. Its signature may be unknown.
bool is_core_operator(std::string_view op);

/// Makes such a call one of the operator that a model calls: `_softmax(x, 1, False)` is
/// `softmax(x, 1)`. The first result stays; false where another operator computes something else.
bool use_called_operator(Call& call);

}  // namespace mase::pt2
