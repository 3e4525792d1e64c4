// SPDX-License-Identifier: Apache-2.0
// Results of rows and their repetition in RTL.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "hardware/design/modules/repeat.hpp"
#include "hardware/design/modules/row_reduce.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::Codes;
using integer::FixedType;

constexpr std::int64_t row_frames = 40;

std::int64_t result_of(const std::vector<std::int64_t>& row, design::RowResult result) {
  if (result == design::RowResult::sum)
    return std::accumulate(row.begin(), row.end(), std::int64_t{0});
  const auto [least, greatest] = std::ranges::minmax(row);
  return result == design::RowResult::peak ? std::max(greatest, -least) : greatest;
}

TEST_CASE("results of rows in RTL are exact at every width and number of lanes") {
  using design::RowResult;
  Random random(51);
  std::vector<Case> cases;
  for (const RowResult reduced : {RowResult::maximum, RowResult::sum, RowResult::peak})
    for (const std::int64_t n : {1, 2, 5})
      for (const std::int64_t lanes : {1, 2, 3, 4, 7}) {
        const FixedType type{static_cast<int>(between(random, 1, 12)), 0, random.below(2) == 0};
        const std::int64_t row = n * lanes;
        FixedType out = type;
        if (reduced == RowResult::sum)
          out = integer::type_for(type.low() * row, type.high() * row, 0);
        if (reduced == RowResult::peak)
          out = integer::type_for(0, std::max(-type.low(), type.high()), 0);
        const Port in = random_port(random, lanes, type, row_frames * n);
        Port result{1, out, {}};
        for (auto first = in.codes.begin(); first != in.codes.end(); first += row)
          result.codes.push_back(result_of({first, first + row}, reduced));
        const design::RowReduceModule module{.beats = n,
                                             .lanes = lanes,
                                             .in_bits = type.width,
                                             .in_signed = type.is_signed,
                                             .result = static_cast<int>(reduced),
                                             .out_bits = out.width};
        cases.push_back(case_of(module, {in}, {result}));
      }
  check_cases(cases, row_frames);
}

TEST_CASE("repeated elements in RTL leave without a gap") {
  Random random(52);
  std::vector<Case> cases;
  for (const std::int64_t beats : {1, 2, 3, 8})
    for (const std::int64_t lanes : {1, 3, 4}) {
      const FixedType type{static_cast<int>(between(random, 1, 12)), 0, random.below(2) == 0};
      const Port in = random_port(random, 1, type, row_frames);
      Port out{lanes, type, {}};
      for (const std::int64_t code : in.codes)
        out.codes.insert(out.codes.end(), static_cast<std::size_t>(beats * lanes), code);
      const design::RepeatModule module{
          .width = type.width, .count = beats * lanes, .lanes = lanes};
      cases.push_back(case_of(module, {in}, {out}));
    }
  check_cases(cases, row_frames);
}

}  // namespace
}  // namespace mase::rtl_test
