// SPDX-License-Identifier: Apache-2.0
// Reports of nextpnr, written by hand, and a small design that is really placed.
#include <catch2/catch.hpp>

#include "base/process.hpp"
#include "designs.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/families.hpp"
#include "hardware/emit/place.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

std::string step(const std::string& type, double delay, const std::string& from,
                 const std::string& to) {
  return R"({"type": ")" + type + R"(", "delay": )" + std::to_string(delay) +
         R"(, "from": {"cell": ")" + from + R"("}, "to": {"cell": ")" + to + R"("}})";
}

std::string endpoint(const std::string& cell, const std::string& event, double longest) {
  return R"({"cell": ")" + cell + R"(", "event": ")" + event + R"(", "delay": [0.5, )" +
         std::to_string(longest) + "]}";
}

// Two instances; a path from a pin is longer than every path between registers.
const std::string report =
    R"({"fmax": {"clk": {"achieved": 125.0, "constraint": 200.0}},
        "utilization": {"LUTS": {"used": 7, "available": 100}, "DSPS": {"used": 0, "available": 4}},
        "critical_paths": [
          {"from": "<async>", "to": "posedge clk", "path": [)" +
    step("routing", 20, "pin", "inner.first.kept") + R"(]},
          {"from": "posedge clk", "to": "posedge clk", "path": [)" +
    step("clk-to-q", 0.5, "inner.first.g_lane[1].kept_TRELLIS_FF_Q_3", "inner.first.x") + ", " +
    step("routing", 3, "inner.first.x", "inner.second.genblk2.sum_LUT4_Z") + ", " +
    step("logic", 4, "inner.second.genblk2.sum_LUT4_Z", "inner.second.sum_LUT4_Z") + ", " +
    step("setup", 0.5, "inner.second.sum_TRELLIS_FF_Q", "inner.second.sum_TRELLIS_FF_Q") + R"(]}],
        "detailed_net_timings": [
          {"event": "posedge clk", "endpoints": [)" +
    endpoint("inner.second.sum_TRELLIS_FF_Q", "posedge clk", 8) + ", " +
    endpoint("inner.second.g_lane[1].other_TRELLIS_FF_Q_1", "posedge clk", 3) + ", " +
    endpoint("kept_TRELLIS_FF_Q", "posedge clk", 9) + R"(]},
          {"event": "posedge clk", "endpoints": [)" +
    R"({"cell": "inner.first.kept_SB_LUT4_I1_LC", "event": "posedge clk", "delay": 2}, )" +
    endpoint("shift_out", "async", 11) + R"(]},
          {"event": "async", "endpoints": [)" +
    endpoint("inner.first.kept_TRELLIS_FF_Q", "posedge clk", 20) + "]}]}";

}  // namespace

TEST_CASE("a report gives the clock, its slowest path and the slowest of every instance") {
  const Placement placement = placement_of_report(report);
  CHECK(placement.mhz == 125);
  CHECK(placement.target_mhz == 200);
  CHECK(placement.from == "first.kept");
  CHECK(placement.to == "second.sum");
  CHECK(placement.logic == Approx(5));
  CHECK(placement.routing == Approx(3));
  REQUIRE(placement.instances.size() == 2);
  CHECK(placement.instances.at("first").ns == 2);
  CHECK(placement.instances.at("first").at == "first.kept");
  CHECK(placement.instances.at("second").ns == 8);
  CHECK(placement.instances.at("second").at == "second.sum");
  REQUIRE(placement.use.size() == 1);
  CHECK(placement.use.at("LUTS").used == 7);
  CHECK(placement.use.at("LUTS").available == 100);
}

TEST_CASE("a report of another shape is refused") {
  const auto says = [](const std::string& json) {
    return test::message_of(mase::Fault::file, [&] { placement_of_report(json); });
  };
  CHECK_THAT(says("{}"), Catch::Contains("the report of nextpnr has no entry 'fmax'"));
  CHECK_THAT(says(R"({"fmax": {}})"), Catch::Contains("no clock"));
  CHECK_THAT(says(R"({"fmax": {"clk": {"achieved": "fast"}}})"),
             Catch::Contains("another value than a number"));
  CHECK_THAT(says(R"({"fmax": {"clk": {"achieved": 1, "constraint": 1}}, "critical_paths": 3})"),
             Catch::Contains("no list 'critical_paths'"));
}

TEST_CASE("the boundary has a register for every port of the top") {
  const design::Design design = test::one_skid();  // a stream of 8 bits in and out
  const Names names = names_of(design);
  const std::string text = boundary_text(design, names, device_scopes(design, names).front());
  CHECK_THAT(text, Catch::Contains("logic [10-1:0] given;"));
  CHECK_THAT(text, Catch::Contains("logic [10-1:0] seen, kept;"));
  CHECK_THAT(text, Catch::Contains("_data(given[1 +: 8])"));
  CHECK_THAT(text, Catch::Contains("_data(seen[2 +: 8])"));
}

TEST_CASE("a design goes to the smallest device that holds it, or is told what would fit") {
  const Family& family = placed_family("ecp5");
  const auto named = [&](const design::Cost& cost) { return device_for(family, cost, cost).name; };
  CHECK(named({.lut = 21859, .ff = 100}) == "LFE5U-25F-6CABGA381");  // nine tenths of 24288
  CHECK(named({.lut = 21860, .ff = 100}) == "LFE5U-45F-6CABGA381");
  CHECK(named({.dsp = 156, .bram = 208}) == "LFE5U-85F-6CABGA381");
  // Twice the LUTs that were predicted: half of 75276 is the limit. 208 blocks of 18 kbit are 104
  // of
  // 36. The limits keep what is enough, so that no other resource takes its place.
  const design::Cost counted{.lut = 10000, .ff = 80000, .dsp = 890, .bram = 50};
  const design::Cost predicted{.lut = 5000, .ff = 80000, .dsp = 890, .bram = 25};
  CHECK(
      test::message_of(mase::Fault::config, [&] { device_for(family, counted, predicted); }) ==
      "no device of ecp5 holds the design: it takes 80000 flip-flops where 75276 can be used, 890 "
      "DSP blocks where 156 can be used of LFE5U-85F-6CABGA381, the largest that mase places "
      "for; fold it with a larger --ii, or take the fastest design that fits: --lut 37638 --dsp "
      "156 --bram 104");
}

TEST_CASE("families that nextpnr does not place for are refused") {
  CHECK(test::message_of(mase::Fault::config, [] { place("", {}, "xc7", 100, 0); }) ==
        "nextpnr does not place for 'xc7'; it does for ice40, ecp5");
}

namespace {

bool skipped(const std::string& program) {
  if (program_exists(program_here(program))) return false;
  WARN("skipped: " + program + " is not in PATH (" + install_command(program) + ")");
  return true;
}

}  // namespace

TEST_CASE("nextpnr places a design") {
  if (skipped("nextpnr-ecp5")) return;
  const design::Design design = test::one_skid();
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(design, {}));
  const Placement placement = place(folder.path(), design, "ecp5", 150, 1).front();
  CHECK(placement.target_mhz == 150);
  CHECK(placement.mhz > 100);  // two LUTs at most between registers
  CHECK(placement.device == "LFE5U-25F-6CABGA381");
  CHECK(placement.instances.contains("buffer"));
  CHECK(placement.logic + placement.routing == Approx(1000 / placement.mhz).margin(0.1));
  // Two entries and two bits of state, and the boundary's 21.
  CHECK(placement.use.at("TRELLIS_FF").used == 18 + 21);
}

TEST_CASE("iCE40 has a design whose buffers ask for memories that it lacks") {
  if (skipped("nextpnr-ice40")) return;
  const design::Design design = test::two_lines();
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(design, {}));
  const Placement placement = place(folder.path(), design, "ice40", 50, 1).front();
  CHECK(placement.device == "iCE40UP5K-SG48");
  CHECK(placement.mhz > 20);
  CHECK(placement.instances.contains("second"));
}
