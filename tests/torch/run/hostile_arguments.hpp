// SPDX-License-Identifier: Apache-2.0
// Arguments as a stranger would choose them: odd shapes and types, numbers at the edges, indices
// far outside. Random, and the same for the same seed.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "base/random.hpp"

namespace mase::test {

/// One value for each argument of the schema.
std::vector<c10::IValue> hostile_arguments(const c10::FunctionSchema& schema, Random& random);

/// For messages: "float32[2, 3], -1, \"mean\"".
std::string text_of(const std::vector<c10::IValue>& arguments);

}  // namespace mase::test
