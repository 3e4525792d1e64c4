// SPDX-License-Identifier: Apache-2.0
// Names of sets of characters, as \p{...} and [:...:] of Oniguruma have them.
#pragma once

#include <string_view>

#include "tokenizer/code_point_set.hpp"

namespace mase::tokenizer {

/// Adds the characters of a general category, a script or a property, or all others. Case, spaces,
/// '-' and '_' of the name do not matter. False for an unknown name.
bool add_named(CodePointSet& set, std::string_view name, bool negated);

/// The same for the names in brackets, [:alpha:]; those are a few of the properties.
bool add_posix(CodePointSet& set, std::string_view name, bool negated);

}  // namespace mase::tokenizer
