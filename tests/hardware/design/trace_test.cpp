// SPDX-License-Identifier: Apache-2.0
// Traces: their beats, before and after they begin to repeat.
#include <catch2/catch.hpp>

#include "hardware/design/timing/handshake.hpp"
#include "hardware/design/timing/trace.hpp"

using mase::design::forever;
using mase::design::Trace;

namespace {

std::vector<std::int64_t> first_beats(const Trace& trace, std::size_t count) {
  std::vector<std::int64_t> cycles;
  for (Trace::Cursor cursor(trace); cycles.size() < count; cursor.advance())
    cycles.push_back(cursor.cycle());
  return cycles;
}

/// Beats at 10, 11, 12, then 20, 24, 28 and so on, in every period.
Trace uneven() {
  Trace trace;
  for (std::int64_t cycle : {10, 11, 12}) trace.add(cycle);
  const std::size_t mark = trace.mark();
  for (std::int64_t cycle : {20, 24, 28}) trace.add(cycle);
  trace.loop(mark, 15);
  return trace;
}

}  // namespace

TEST_CASE("a trace repeats what has come since its mark") {
  CHECK(first_beats(uneven(), 9) == std::vector<std::int64_t>{10, 11, 12, 20, 24, 28, 35, 39, 43});
  CHECK(uneven().periodic_from() == 20);
  CHECK(uneven().period() == 15);
}

TEST_CASE("a trace that repeats from its first beat on has no beginning of its own") {
  Trace trace;
  const std::size_t mark = trace.mark();
  for (std::int64_t cycle : {3, 4}) trace.add(cycle);
  trace.loop(mark, 10);
  CHECK(first_beats(trace, 5) == std::vector<std::int64_t>{3, 4, 13, 14, 23});
}

TEST_CASE("a trace without beats since its mark ends") {
  Trace trace;
  trace.add(5);
  trace.loop(trace.mark(), 10);
  CHECK(first_beats(trace, 2) == std::vector<std::int64_t>{5, forever});
  CHECK(Trace::Cursor(Trace()).cycle() == forever);
}

TEST_CASE("traces at other times are the same, and those of other beats are not") {
  const Trace later = uneven().later(7);
  CHECK(later.shifted(uneven()));
  CHECK(first_beats(later, 4) == std::vector<std::int64_t>{17, 18, 19, 27});
  Trace other = uneven();
  other.loop(0, 30);
  CHECK_FALSE(other.shifted(later));
}
