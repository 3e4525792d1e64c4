// SPDX-License-Identifier: Apache-2.0
// Scripts for the tools of Intel and Lattice under tclsh, with stand-ins for the tools' commands
// that note their arguments and reports in the form that the tools write; nextpnr itself.
#include "hardware/emit/tools/tool_scripts.hpp"

#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "designs.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

constexpr const char* quartus = R"(
foreach package {project device flow} { package provide ::quartus::$package 1 }
proc get_part_info {option device} { return "{Cyclone 10 GX}" }
proc execute_flow args {
  file mkdir output_files
  set file [open $::top.sdc]
  puts [read $file]
  set file [open output_files/$::top.sta.summary w]
  puts $file "Type  : Slow 900mV 100C Model Setup 'clk'\nSlack : 1.250\nTNS   : 0.000\n"
  puts $file "Type  : Slow 900mV 0C Model Setup 'clk'\nSlack : SLACK\nTNS   : 0.000\n"
  puts $file "Type  : Slow 900mV 0C Model Hold 'clk'\nSlack : -9.000\nTNS   : 0.000"
  close $file
}
foreach command {project_new set_global_assignment set_instance_assignment project_close} {
  proc $command args "puts \"$command \$args\""
}
)";

constexpr const char* radiant = R"(
proc prj_run {step args} {
  puts "run $step"
  set file [open impl/one_table_impl.twr w]
  puts $file " Setup at Speed Grade 9 Corner at 0 Degrees  Timing Errors: SLACK endpoints;  Total Negative Slack: 0 ns"
  puts $file " Hold at Speed Grade m Corner at 0 Degrees   Timing Errors: 0 endpoints;  Total Negative Slack: 0 ns"
  close $file
}
foreach command {prj_create prj_set_impl_opt prj_save prj_close} { proc $command args "puts \"$command \$args\"" }
proc prj_add_source name { puts "source $name"; if {![file exists $name]} { error "no such file" } }
)";

ProcessResult run_script(const std::string& folder, const char* tool, const std::string& commands,
                         const std::string& result, const std::vector<std::string>& arguments) {
  write_file(folder + "/" + tool + "/commands.tcl",
             replace_all(commands, "SLACK", result) + "source build.tcl\n");
  std::vector<std::string> command = {"tclsh", "commands.tcl"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command, {folder + "/" + tool, 3600, {}});
}

}  // namespace

TEST_CASE("Quartus's script compiles the named device and says which clock is reached") {
  const test::TemporaryFolder folder;
  EmitOptions options;
  options.clock_mhz = 125;
  write_files(folder.path(), all_files(test::one_table(), options));
  const ProcessResult met =
      run_script(folder.path(), "quartus", quartus, "0.500", {"10CX105YF672I6G", "axi"});
  INFO(met.err);
  CHECK(met.status == 0);
  for (const char* part :
       {"-name FAMILY {Cyclone 10 GX}", "-name DEVICE 10CX105YF672I6G",
        "-name SYSTEMVERILOG_FILE ../rtl/one_table_axi.sv", "-name TOP_LEVEL_ENTITY one_table_axi",
        "create_clock -name aclk -period 8.000 [get_ports aclk]", "VIRTUAL_PIN OFF -to aclk",
        "one_table_axi on 10CX105YF672I6G: 133.3 MHz"})
    CHECK(met.out.find(part) != std::string::npos);
  CHECK(file_exists(folder.file("quartus/table.mem")));
  const ProcessResult missed = run_script(folder.path(), "quartus", quartus, "-0.250", {});
  CHECK(missed.status == 1);
  CHECK(missed.out.find("one_table on 5CSEBA6U23I7: 121.2 MHz") != std::string::npos);
  CHECK(missed.out.find("is missed by 0.25 ns") != std::string::npos);
}

TEST_CASE("Radiant's script implements the design inside its boundary") {
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(test::one_table(), {}));
  const ProcessResult met =
      run_script(folder.path(), "radiant", radiant, "0", {"LFD2NX-40-8BG256C"});
  INFO(met.err);
  CHECK(met.status == 0);
  CHECK(met.out.find("-dev LFD2NX-40-8BG256C") != std::string::npos);
  CHECK(met.out.find("top mase_place_boundary") != std::string::npos);
  CHECK(met.out.find("run Synthesis\nrun Map\nrun PAR") != std::string::npos);
  CHECK(file_exists(folder.file("radiant/project/table.mem")));
  const ProcessResult missed = run_script(folder.path(), "radiant", radiant, "7", {});
  CHECK(missed.status == 1);
  CHECK(missed.out.find("is missed: Timing Errors: 7 endpoints") != std::string::npos);
}

TEST_CASE("make place runs nextpnr on the emitted folder") {
  const std::string nextpnr = program_here("nextpnr-ecp5");
  if (!program_exists(nextpnr)) {
    WARN("skipped: nextpnr-ecp5 is not in PATH");
    return;
  }
  const test::TemporaryFolder folder;
  write_files(folder.path(), all_files(test::one_table(), {}));
  const ProcessResult result =
      run_process({"make", "place", "NEXTPNR=" + nextpnr}, {folder.path(), 3600, {}});
  INFO(result.err);
  CHECK(result.status == 0);
  CHECK(result.out.find("Max frequency for clock") != std::string::npos);
  CHECK(file_exists(folder.file("place/report.json")));
}
