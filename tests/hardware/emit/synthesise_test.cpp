// SPDX-License-Identifier: Apache-2.0
// Counting of cells, on statistics written by hand and on a small design run through Yosys.
#include <catch2/catch.hpp>

#include "designs.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/synthesise.hpp"
#include "hardware/emit/tools/coverage.hpp"
#include "hardware/emit/tools/yosys_stat.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

std::string stat_of(const std::string& cells) {
  return R"({"modules": {"\\top": {"num_cells_by_type": {)" + cells + "}}}}";
}

}  // namespace

TEST_CASE("cells count as the tables of the families say") {
  // 3 + 4 LUTs, two RAM32M of 4 each; half a block and one whole.
  const design::Cost xc7 = cost_of_stat(
      stat_of(R"("LUT2": 3, "LUT6": 4, "MUXF7": 9, "INV": 2, "RAM32M": 2, "FDRE": 10, "FDSE": 1,
                 "CARRY4": 5, "DSP48E1": 2, "RAMB18E1": 1, "RAMB36E1": 1)"),
      "top", "xc7");
  CHECK(xc7.lut == 15);
  CHECK(xc7.ff == 11);
  CHECK(xc7.carry == 5);
  CHECK(xc7.dsp == 2);
  CHECK(xc7.bram == 1.5);
  const design::Cost ice40 =
      cost_of_stat(stat_of(R"("SB_LUT4": 7, "SB_DFFESR": 3, "SB_RAM40_4K": 2)"), "top", "ice40");
  CHECK(ice40.lut == 7);
  CHECK(ice40.ff == 3);
  CHECK(ice40.bram == 2);
  CHECK(test::message_of(mase::Fault::file, [] {
          cost_of_stat(stat_of(""), "other", "xc7");
        }).find("other") != std::string::npos);
}

TEST_CASE("statistics of the wrong kind are refused") {
  const auto says = [](const std::string& json) {
    return test::message_of(mase::Fault::file, [&] { cost_of_stat(json, "top", "xc7"); });
  };
  CHECK_THAT(says(stat_of(R"("LUT4": "two")")), Catch::Contains("no number of cells LUT4"));
  CHECK_THAT(says(R"({"modules": {"\\top": {"num_cells_by_type": 3}}})"),
             Catch::Contains("do not name module top"));
}

TEST_CASE("the depth is the length that ltp prints") {
  CHECK(depth_of_ltp("Longest topological path in top (length=12):\n") == 12);
  CHECK_FALSE(depth_of_ltp("nothing"));
}

TEST_CASE("the longest path is where sta says, in the instance nearest its end") {
  const std::string begin =
      "\n27. Executing STA pass.\nLatest arrival time in 'top' is 2844:\n"
      "    2844 $auto$x.h:3:block_2$6 (LUT6.I0)\n           $auto$y.cc:1 [0]\n";
  const std::string inside =
      "    1819 $flatten\\fc1.\\datapath.$mul$rtl/a.sv:39 (DSP48E1.CLK->P)\n";
  const std::string end = "       0   \\clk (<primary input>)\n\nArrival histogram:\n \\later.x\n";
  const auto path = path_of_sta(begin + inside + end);
  REQUIRE(path);
  CHECK(path->ns == 2.844);
  CHECK(path->instance == "fc1");
  CHECK(path_of_sta(begin + "    9 \\fc2.skid.q [3]\n" + inside + end)->instance == "fc2");
  CHECK(path_of_sta(begin + end)->instance.empty());
  CHECK_FALSE(path_of_sta("Latest arrival time in 'top' is nothing"));
  CHECK_FALSE(path_of_sta("no path"));
}

TEST_CASE("coverage points are counted by kind and module") {
  const std::string point = "C '\1f\2../rtl/a.sv\1l\0023\1page\2";
  const Tree tree =
      summarise_coverage("# SystemC::Coverage-3\n" + point + "v_line/a\1h\2TOP' 3\n" + point +
                         "v_line/a\1h\2TOP' 0\n" + point + "v_toggle/b\1h\2TOP' 7\n" + point +
                         "v_toggle/bench_top\1h\2TOP' 0\n");
  CHECK(to_json(tree, -1) ==
        R"({"line":{"points":2,"hit":1,"times":3},"toggle":{"points":1,"hit":1,"times":7},)"
        R"("modules":{"a":{"line":{"points":2,"hit":1,"times":3}},)"
        R"("b":{"toggle":{"points":1,"hit":1,"times":7}}}})");
}

TEST_CASE("Yosys measures a design and its instances") {
  const design::Design design = test::one_skid();
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(design, {}));
  const Synthesis synthesis = synthesise(folder.path(), design, "xc7", true);
  // Two entries of 8 bits and at least one bit of state.
  CHECK(synthesis.total.ff >= 17);
  CHECK(synthesis.total.ff <= 20);
  CHECK(synthesis.total.lut >= 8);
  CHECK(synthesis.total.dsp == 0);
  CHECK(synthesis.instances.at("buffer").lut == synthesis.total.lut);
  CHECK(synthesis.instances.at("buffer").ff == synthesis.total.ff);
  REQUIRE(synthesis.logic_depth);
  CHECK(*synthesis.logic_depth >= 1);
  // From a register of the skid buffer through at least one LUT6 (0.1 ns), at most some.
  REQUIRE(synthesis.path);
  CHECK(synthesis.path->ns > 0.1);
  CHECK(synthesis.path->ns < 3);
  CHECK(synthesis.path->instance == "buffer");
  CHECK(synthesise(folder.path(), design, "ice40", false).path);
  CHECK_FALSE(synthesise(folder.path(), design, "ecp5", false).path);
  CHECK(test::message_of(mase::Fault::config, [&] {
          synthesise(folder.path(), design, "stratix", false);
        }) == "there is no FPGA family 'stratix'; known are xc7, ice40, ecp5");
}
