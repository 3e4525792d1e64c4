// SPDX-License-Identifier: Apache-2.0
// The reports of Vivado, of made-up designs in the form that 2020.2 to 2024.1 write, and the script
// for it under tclsh with Vivado's commands as stand-ins that note their arguments.
#include "hardware/emit/vivado.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "designs.hpp"
#include "hardware/emit/text/axi.hpp"
#include "hardware/emit/text/templates.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

constexpr const char* series7 = R"(
1. Slice Logic
--------------

+----------------------------+------+-------+------------+-----------+-------+
|          Site Type         | Used | Fixed | Prohibited | Available | Util% |
+----------------------------+------+-------+------------+-----------+-------+
| Slice LUTs*                | 1234 |     0 |          0 |     63400 |  1.95 |
|   LUT as Logic             | 1200 |     0 |          0 |     63400 |  1.89 |
| Slice Registers            | 2345 |     0 |          0 |    126800 |  1.85 |
|   Register as AND/OR       |    2 |     0 |          0 |    126800 | <0.01 |
+----------------------------+------+-------+------------+-----------+-------+
| Block RAM Tile    |  1.5 |     0 |          0 |       135 |  1.11 |
|   RAMB36/FIFO*    |    1 |     0 |          0 |       135 |  0.74 |
| DSPs      |   16 |     0 |          0 |       240 |  6.67 |
| Slice LUTs | 5 bits |
)";
constexpr const char* ultrascale = R"(
| CLB LUTs                | 10 |     0 |     70560 |  0.01 |
| CLB Registers           | 20 |     0 |    141120 |  0.01 |
| Block RAM Tile | 322.5 |   0 |       216 |  0.00 |
| DSPs           |    0 |     0 |       360 |  0.00 |
)";
constexpr const char* timing = R"(
| Design Timing Summary
| ---------------------
------------------------------------------------------------------------------

    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints
    -------      -------  ---------------------  -------------------
     -1.250      -80.000                    120                 5000

| Clock Summary
| -------------

Clock  Waveform(ns)         Period(ns)      Frequency(MHz)
-----  ------------         ----------      --------------
clk    {0.000 2.500}        5.000           200.000

Clock             WNS(ns)      TNS(ns)
-----             -------      -------
clk                -1.250      -80.000
)";

std::array<double, 4> numbers(const design::Cost& cost) {
  return {cost.lut, cost.ff, cost.dsp, cost.bram};
}

}  // namespace

TEST_CASE("the name of a part is a word of Tcl") {
  for (const char* part : {"xc7a100t]; exec id; [", "xc7a100t\nexec id", "$part", "", "a b"}) {
    EmitOptions options;
    options.part = part;
    CHECK(test::message_of(mase::Fault::config, [&] {
            vivado_files(test::one_skid(), options, "0");
          }).starts_with("part '" + options.part + "': "));
  }
}

TEST_CASE("reports of Vivado give resources, slack and the clock that is reached") {
  Implementation found;
  read_utilization(series7, "u.txt", found);
  CHECK(numbers(found.used) == std::array{1234.0, 2345.0, 16.0, 1.5});
  CHECK(numbers(found.available) == std::array{63400.0, 126800.0, 240.0, 135.0});
  read_utilization(ultrascale, "u.txt", found);
  CHECK(numbers(found.used) == std::array{10.0, 20.0, 0.0, 322.5});
  read_timing(timing, "t.txt", found);
  CHECK(found.slack == -1.25);
  CHECK(found.mhz() == Approx(160));
}

TEST_CASE("files that are no reports of Vivado are refused by name") {
  Implementation found;
  const auto utilization = [&](const std::string& text) {
    return test::message_of(mase::Fault::file, [&] { read_utilization(text, "u.txt", found); });
  };
  const auto times = [&](const std::string& text) {
    return test::message_of(mase::Fault::file, [&] { read_timing(text, "t.txt", found); });
  };
  CHECK(utilization("").starts_with("u.txt: no utilization report"));
  CHECK(utilization("| Slice LUTs | many | 0 | 10 | 1 |") ==
        "u.txt: row 'Slice LUTs' has no numbers");
  for (const std::string text :
       {std::string(), replace_all(timing, "-1.250", "NA"), replace_all(timing, "5.000", "0.000"),
        std::string("    WNS(ns)\n--"), replace_all(timing, "-1.250", "inf"),
        replace_all(timing, "-1.250", "nan")})
    CHECK(times(text).starts_with("t.txt: no timing summary"));
}

TEST_CASE("Vivado's script names files that exist and fails when the clock is missed") {
  const test::TemporaryFolder folder;
  const design::Design design = test::one_table();
  write_files(folder.path(), all_files(design, {}));
  const auto run = [&](const std::string& slack, const std::vector<std::string>& arguments) {
    std::string stubs =
        "proc get_timing_paths args {}\nproc get_property args { return " + slack + " }\n";
    for (const char* command :
         {"synth_design", "report_utilization", "opt_design", "place_design", "phys_opt_design",
          "route_design", "report_timing_summary", "report_power", "write_checkpoint"})
      stubs += std::string("proc ") + command + " args { puts \"" + command + " $args\" }\n";
    for (const char* command : {"read_verilog", "read_mem", "read_xdc"})
      stubs += std::string("proc ") + command + " args { puts \"" + command +
               " $args\"; if {![file exists [lindex $args end]]} { error \"no such file\" } }\n";
    write_file(folder.file("vivado/stubs.tcl"), stubs + "source build.tcl\n");
    std::vector<std::string> command = {"tclsh", "stubs.tcl"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_process(command, {folder.file("vivado"), 3600, {}});
  };
  const ProcessResult core = run("0.1", {});
  INFO(core.err);
  CHECK(core.status == 0);
  CHECK(core.out.find("synth_design -top one_table -part xc7a100tcsg324-1") != std::string::npos);
  CHECK(core.out.find("read_mem ../rtl/table.mem") != std::string::npos);
  CHECK(core.out.find("_axi") == std::string::npos);
  CHECK(read_file(folder.file("vivado/reports/design.txt")) ==
        design_number(design, names_of(design)) + " one_table\n");
  const ProcessResult axi = run("-0.2", {"axi"});
  CHECK(axi.status == 1);
  CHECK(axi.out.find("read_verilog -sv ../rtl/one_table_axi.sv") != std::string::npos);
  CHECK(axi.out.find("synth_design -top one_table_axi") != std::string::npos);
  CHECK(axi.out.find("is missed by 0.2 ns") != std::string::npos);
}

TEST_CASE("Vivado's constraints have the clock, a margin, time outside and the reset") {
  EmitOptions options;
  options.clock_mhz = 250;
  const std::string text =
      vivado_files(test::one_skid(), options, "00c0ffee").at("vivado/one_skid.xdc");
  for (const char* part : {"-period 4.000", "set_clock_uncertainty 0.100",
                           "set_input_delay -clock clk 0.800", "set_output_delay -clock clk 0.800",
                           "set_false_path -from [get_ports -quiet {rst aresetn}]"})
    CHECK(text.find(part) != std::string::npos);
}

namespace {

/// Commands of IP integrator that note what they are told, for block_design.tcl; what would be
/// built exists at once.
constexpr const char* integrator = R"(
proc get_ipdefs pattern {
  set core [lindex [split $pattern :] 2]
  if {[string match *_axi $core]} { return mase:design:$core:1.0 }
  return "x:ip:$core:7.9 x:ip:$core:7.10"
}
proc create_bd_cell {type ip vlnv core name} { puts "cell $name $core"; return $name }
proc set_property args { puts "set $args" }
proc get_bd_intf_pins name { return $name }
proc get_bd_pins args { return [expr {[llength $args] == 1 ? [lindex $args 0] :   [string match *clk* $args] ? "core/aclk dma_0/m_axi_mm2s_aclk" : "core/aresetn reset/aux_reset_in"}] }
proc get_bd_cells name { return $name }
proc connect_bd_intf_net {one other} { puts "bus $one $other" }
proc connect_bd_net {one other} { puts "net $one $other" }
foreach command {create_project current_project update_ip_catalog create_bd_design apply_bd_automation
                 assign_bd_address validate_bd_design save_bd_design add_files make_wrapper current_fileset
                 generate_target wait_on_run get_files get_runs} {
  proc $command args "puts \"$command \$args\""
}
proc launch_runs args {
  file mkdir system/system.runs/impl_1 system/system.gen/sources_1/bd/system/hw_handoff
  close [open system/system.runs/impl_1/system_wrapper.bit w]
  close [open system/system.gen/sources_1/bd/system/hw_handoff/system.hwh w]
}
proc get_property {name object} { return [dict get {PROGRESS 100% STATS.WNS @SLACK@} $name] }
source block_design.tcl
)";

ProcessResult integrate(const std::string& folder, const std::string& slack,
                        const std::vector<std::string>& arguments) {
  write_file(folder + "/vivado/integrator.tcl", filled(integrator, {{"SLACK", slack}}));
  std::vector<std::string> command = {"tclsh", "integrator.tcl"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command, {folder + "/vivado", 3600, {}});
}

}  // namespace

TEST_CASE("the block design joins a DMA, registers, clock and reset to the core") {
  const test::TemporaryFolder folder;
  EmitOptions options;
  options.part = "xc7z020clg400-1";
  write_files(folder.path(), all_files(test::two_lines(), options));
  const ProcessResult result = integrate(folder.path(), "0.5", {"a:board:part0:1.0"});
  INFO(result.err);
  CHECK(result.status == 0);
  // Inputs a (13 bits, 2 bytes) and c (100 bits, 13 bytes), outputs b and d like them.
  for (const char* line :
       {"cell dma_1 x:ip:axi_dma:7.10", "cell core mase:design:two_lines_axi:1.0",
        "bus dma_0/M_AXIS_MM2S core/s_axis_a", "bus core/m_axis_b dma_0/S_AXIS_S2MM",
        "bus dma_1/M_AXIS_MM2S in_1/S_AXIS", "bus in_1/M_AXIS core/s_axis_c",
        "bus core/m_axis_d out_1/S_AXIS", "bus out_1/M_AXIS dma_1/S_AXIS_S2MM",
        "CONFIG.c_m_axis_mm2s_tdata_width 128", "bus registers/M00_AXI core/s_axi_control",
        "bus registers/M02_AXI dma_1/S_AXI_LITE", "bus dma_1/M_AXI_S2MM transfers/S03_AXI",
        "bus transfers/M00_AXI ps/S_AXI_HP0", "net ps/FCLK_CLK0 core/aclk",
        "net reset/peripheral_aresetn core/aresetn", "CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ 200.0",
        "set board_part a:board:part0:1.0"})
    CHECK(result.out.find(line) != std::string::npos);
  CHECK(result.out.find("peripheral_aresetn reset/aux_reset_in") == std::string::npos);
  for (const char* ending : {".bit", ".hwh"})
    CHECK(file_exists(folder.file("host/two_lines" + std::string(ending))));
}

TEST_CASE("the block design fails when the clock is missed or the part has no processor") {
  const test::TemporaryFolder folder;
  EmitOptions options;
  options.part = "xczu3eg-sbva484-1-e";
  write_files(folder.path(), all_files(test::one_skid(), options));
  const ProcessResult missed = integrate(folder.path(), "-0.25", {});
  CHECK(missed.status == 1);
  CHECK(missed.out.find("cell ps x:ip:zynq_ultra_ps_e:7.10") != std::string::npos);
  CHECK(missed.out.find("is missed by 0.25 ns") != std::string::npos);
  CHECK_FALSE(file_exists(folder.file("host/one_skid.bit")));
  write_files(folder.path(), all_files(test::one_skid(), {}));
  const ProcessResult refused = integrate(folder.path(), "0.5", {});
  CHECK(refused.status == 1);
  CHECK(refused.out.find("xc7a100tcsg324-1 has no processor") != std::string::npos);
}
