// SPDX-License-Identifier: Apache-2.0
// Calls of operators on a few inputs, as the text form of a graph writes them.
#pragma once

#include <string>
#include <vector>

namespace mase::test {

/// At least one call of each operator that the op table calls. The inputs are those of
/// inference_calls_test.cpp.
const std::vector<std::string>& inference_calls();
/// Those of functions of elements.
std::vector<std::string> element_calls();

}  // namespace mase::test
