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

/// {TLAST, TDATA} of every word of every beat, in which TDATA has `tdata` bits; a frame has
/// `beats`.
Port on_the_way(const Port& from, int tdata, std::int64_t words, std::int64_t beats) {
  Port link{1, {tdata + 1, 0, false}, {}};
  std::int64_t beat = 0;
  for (std::int64_t code : from.codes) {
    for (std::int64_t word = 0; word < words; ++word, code >>= tdata)
      link.codes.push_back(code & ((std::int64_t{1} << tdata) - 1));
    if (++beat % beats == 0) link.codes.back() |= std::int64_t{1} << tdata;
  }
  return link;
}

/// The two ends of a link.
void add_ends(std::vector<Case>& cases, Random& random, int width, int tdata, std::int64_t beats) {
  const std::int64_t words = (width + tdata - 1) / tdata;
  const Port inside = bits_port(random, width, beats);
  const Port link = on_the_way(inside, tdata, words, beats);
  cases.push_back(case_of(
      design::LinkOutputModule{
          .width = width, .tdata = tdata, .words = words, .beats = beats * words},
      {inside}, {link}));
  cases.push_back(case_of(design::LinkInputModule{.width = width, .tdata = tdata, .words = words},
                          {link}, {inside}));
}

}  // namespace

TEST_CASE("the ends of links in RTL carry beats in the low bits of TDATA and end frames by TLAST") {
  Random random(5);
  std::vector<Case> cases;
  for (const int width : {1, 7, 8, 9, 20, 32})
    for (const std::int64_t beats : {1, 2, 5})
      add_ends(cases, random, width, static_cast<int>(design::tdata_bits(width)), beats);
  check_cases(cases, kLinkFrames);
}

TEST_CASE("the ends of narrower links in RTL carry a beat in words, its low bits first") {
  Random random(7);
  std::vector<Case> cases;
  for (const auto& [width, tdata] :
       {std::pair{9, 8}, {16, 8}, {20, 8}, {40, 8}, {33, 16}, {50, 32}, {20, 32}})
    for (const std::int64_t beats : {1, 3}) add_ends(cases, random, width, tdata, beats);
  check_cases(cases, kLinkFrames);
}

TEST_CASE("links in RTL pass every beat in order after their latency, one in each interval") {
  Random random(6);
  std::vector<Case> cases;
  for (const auto& [latency, interval] :
       {std::pair{1, 1}, {2, 1}, {3, 1}, {7, 1}, {30, 1}, {1, 2}, {5, 2}, {3, 3}, {2, 4}, {9, 13}})
    for (const auto& [missing, beats] : {std::pair{0, 1}, {0, 40}, {1, 0}}) {
      const std::int64_t depth = design::link_depth(latency, interval) - missing;
      if (depth == 0) continue;
      // A link that is too small gives as many beats as it holds in the time of both ways.
      const Port port = bits_port(random, 9, beats > 0 ? beats : depth);
      cases.push_back(case_of(
          design::LinkModule{.width = 9, .latency = latency, .interval = interval, .depth = depth},
          {port}, {port}));
    }
  check_cases(cases, kLinkFrames);
}

namespace {

/// Beats that such a link carries in so many of its intervals, when it is always fed and emptied.
std::int64_t beats_in(const design::LinkModule& link, std::int64_t intervals) {
  const auto model = link.handshake({});
  const auto run = [&](std::int64_t edges) {
    std::int64_t beats = 0;
    for (std::int64_t edge = 0; edge < edges; ++edge) {
      const std::uint8_t taken[] = {model->ready(0)}, given[] = {model->valid(0)};
      model->clock(taken, given);
      beats += given[0];
    }
    return beats;
  };
  run(10 * (link.latency + link.interval));
  return run(intervals * link.interval);
}

}  // namespace

TEST_CASE("a link holds just the beats that it needs to carry one in each interval") {
  for (std::int64_t latency = 1; latency <= 20; ++latency)
    for (const std::int64_t interval : {1, 2, 3, 4, 7, 20, 39, 40, 100}) {
      design::LinkModule link{.latency = latency, .interval = interval};
      link.depth = design::link_depth(latency, interval);
      INFO("latency " << latency << ", interval " << interval << ", depth " << link.depth);
      CHECK(beats_in(link, 200) == 200);
      if (--link.depth > 0) CHECK(beats_in(link, 200) < 200);
    }
}

}  // namespace mase::rtl_test
