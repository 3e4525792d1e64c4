// SPDX-License-Identifier: Apache-2.0
// Golden cases: stored inputs and outputs of the reference system, of the OCP formats and of an
// independent model (tests/fixtures/golden/README.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "base/tree.hpp"
#include "formats/format.hpp"

namespace mase::formats {

struct GoldenCase {
  std::string id, format, profile;
  Tree params;
  Array input, output;
  std::optional<Array> codes, shared, scales;
  int ulp = 0;  ///< allowed distance of finite outputs, in units of the last place
};

std::vector<GoldenCase> golden_cases();

/// The case's format under our names; nullopt if it is not that of a tensor (residual planes).
std::optional<Format> golden_format(const GoldenCase& golden);

/// How many numbers of the case come out differently: values, codes, shared codes and scales.
std::size_t mismatches(const GoldenCase& golden, const Format& format);

}  // namespace mase::formats
