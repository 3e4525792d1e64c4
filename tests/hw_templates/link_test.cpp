// SPDX-License-Identifier: Apache-2.0
// The modules of links between devices in RTL: what an AXI4-Stream carries, and their handshake
// models in lockstep.
#include <catch2/catch.hpp>

#include "hardware/design/modules/link.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

using integer::Codes;
using integer::FixedType;

constexpr std::int64_t kLinkFrames = 48;

Port bits_port(Random& random, int width, std::int64_t beats) {
  return random_port(random, 1, {width, 0, false}, kLinkFrames * beats);
}

/// {TLAST, TDATA} of every beat, in which TDATA has `tdata` bits.
Port on_the_way(const Port& from, int tdata, std::int64_t beats) {
  Port link{1, {tdata + 1, 0, false}, from.codes};
  for (std::size_t i = 0; i < link.codes.size(); ++i)
    if (static_cast<std::int64_t>(i) % beats == beats - 1)
      link.codes[i] += std::int64_t{1} << tdata;
  return link;
}

}  // namespace

TEST_CASE("the ends of links in RTL carry beats in the low bits of TDATA and end frames by TLAST") {
  Random random(5);
  std::vector<Case> cases;
  for (const int width : {1, 7, 8, 9, 20, 32})
    for (const std::int64_t beats : {1, 2, 5}) {
      const Port inside = bits_port(random, width, beats);
      const std::int64_t tdata = design::tdata_bits(width);
      const Port link = on_the_way(inside, static_cast<int>(tdata), beats);
      cases.push_back(
          case_of(design::LinkOutputModule{.width = width, .tdata = tdata, .beats = beats},
                  {inside}, {link}));
      cases.push_back(
          case_of(design::LinkInputModule{.width = width, .tdata = tdata}, {link}, {inside}));
    }
  check_cases(cases, kLinkFrames);
}

TEST_CASE("links in RTL pass every beat in order after their latency") {
  Random random(6);
  std::vector<Case> cases;
  for (const std::int64_t latency : {1, 2, 3, 7, 30})
    for (const std::int64_t beats : {1, 6, 40}) {
      const Port port = bits_port(random, 9, beats);
      cases.push_back(case_of(design::LinkModule{.width = 9, .latency = latency}, {port}, {port}));
    }
  check_cases(cases, kLinkFrames);
}

}  // namespace mase::rtl_test
