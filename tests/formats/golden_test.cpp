// SPDX-License-Identifier: Apache-2.0
// The stored outputs of the reference system, of the OCP formats and of an independent model.
#include <catch2/catch.hpp>
#include <cstdio>
#include <map>

#include "formats/golden_case.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

struct Row {
  std::size_t cases = 0, elements = 0, mismatches = 0;
};
using Table = std::map<std::pair<std::string, std::string>, Row>;  // by format and profile

void print(const Table& table) {
  std::printf("%-32s %-8s %6s %9s %10s\n", "format", "profile", "cases", "elements", "mismatches");
  for (const auto& [key, row] : table)
    std::printf("%-32s %-8s %6zu %9zu %10zu\n", key.first.c_str(), key.second.c_str(), row.cases,
                row.elements, row.mismatches);
}

}  // namespace

TEST_CASE("all formats reproduce the golden vectors", "[golden]") {
  Table table;
  std::size_t cases = 0;
  for (const GoldenCase& golden : golden_cases()) {
    INFO(golden.id);
    const auto format = golden_format(golden);
    if (!format) continue;
    const std::size_t wrong = mismatches(golden, *format);
    CHECK(wrong == 0);
    Row& row = table[{golden.format, golden.profile}];
    ++row.cases;
    row.elements += static_cast<std::size_t>(golden.input.size());
    row.mismatches += wrong;
    ++cases;
  }
  print(table);
  CHECK(cases == 708);  // all but the stacked planes of binary_residual
}
